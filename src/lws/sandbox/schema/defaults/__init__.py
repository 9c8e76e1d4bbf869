"""What the API server fills in where a built-in kind's object says nothing.

Law: a function per type, named in `BY_DEFINITION`; it changes the dict that it is given, which
nobody else holds, and looks at nothing else. Types are visited from the outside in.
"""

from collections.abc import Mapping

from lws.sandbox.schema.defaults import containers, networking, others, pods, volumes, workloads
from lws.sandbox.schema.defaults.words import Setter

BY_DEFINITION: Mapping[str, Setter] = {
    **containers.SETTERS,
    **networking.SETTERS,
    **others.SETTERS,
    **pods.SETTERS,
    **volumes.SETTERS,
    **workloads.SETTERS,
}

"""Trouble on demand, over the sandbox's own API: `GET /sandbox`, `POST /sandbox/faults`.

Law: what is asked stands in `asked`; everything is done through `Cluster` and the server's verbs,
as if it had befallen the cluster. docs/sandbox.md describes both paths.
"""

from lws.sandbox.cluster.faults.asked import Fault as Fault
from lws.sandbox.cluster.faults.asked import fault_of as fault_of
from lws.sandbox.cluster.faults.making import Faults as Faults
from lws.sandbox.cluster.faults.making import Outcome as Outcome
from lws.sandbox.cluster.faults.paths import fault_paths as fault_paths

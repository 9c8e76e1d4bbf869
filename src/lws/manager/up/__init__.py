"""`lws up`: a control plane in memory with the operator on it, in one process.

Law: wires the sandbox and the controllers; decides nothing about objects.
"""

from lws.manager.up.local import LocalControlPlane as LocalControlPlane
from lws.manager.up.options import UpOptions as UpOptions
from lws.manager.up.options import topology_of as topology_of

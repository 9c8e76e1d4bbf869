"""The verbs of an API server on plain objects, and the same over HTTP values.

Law: no network, no cluster behaviour; whoever is in this process calls `Api`.
"""

from lws.sandbox.server.api import Api as Api
from lws.sandbox.server.handler import ADMIN_USER as ADMIN_USER
from lws.sandbox.server.handler import Handler as Handler
from lws.sandbox.server.handler import User as User
from lws.sandbox.server.server import Server as Server
from lws.sandbox.server.status import ApiStatus as ApiStatus
from lws.sandbox.server.status import Cause as Cause
from lws.sandbox.server.verbs import ADMIN as ADMIN
from lws.sandbox.server.verbs import Caller as Caller
from lws.sandbox.server.verbs import DeleteOptions as DeleteOptions
from lws.sandbox.server.verbs import EventType as EventType
from lws.sandbox.server.verbs import Listing as Listing
from lws.sandbox.server.verbs import ListOptions as ListOptions
from lws.sandbox.server.verbs import Verbs as Verbs
from lws.sandbox.server.verbs import Watch as Watch
from lws.sandbox.server.verbs import WatchEvent as WatchEvent
from lws.sandbox.server.verbs import WatchOptions as WatchOptions

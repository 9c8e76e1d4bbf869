"""May somebody do what he asks for: roles, their bindings, and the questions about them.

Law: decides from what is in the store at this moment; `system:masters` may do all.
"""

from lws.sandbox.server.authorization.attributes import Attributes as Attributes
from lws.sandbox.server.authorization.authorizer import Authorizer as Authorizer
from lws.sandbox.server.authorization.authorizer import Decision as Decision

"""What an object of a kind may look like.

Law: pure; one model for built-in kinds and custom resources.
"""

from lws.sandbox.schema.model import MISSING as MISSING
from lws.sandbox.schema.model import ListType as ListType
from lws.sandbox.schema.model import Rule as Rule
from lws.sandbox.schema.model import Schema as Schema

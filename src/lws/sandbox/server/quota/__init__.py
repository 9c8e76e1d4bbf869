"""What objects use of a ResourceQuota, for whoever charges and for whoever counts.

Law: pure; objects in, amounts out.
"""

from lws.sandbox.schema.amounts import NOTHING as NOTHING
from lws.sandbox.schema.amounts import Amount as Amount
from lws.sandbox.schema.amounts import Amounts as Amounts
from lws.sandbox.schema.amounts import amount as amount
from lws.sandbox.schema.amounts import amounts as amounts
from lws.sandbox.schema.amounts import total as total
from lws.sandbox.server.quota.usage import Evaluator as Evaluator
from lws.sandbox.server.quota.usage import evaluator_of as evaluator_of

QUOTAS = "/resourcequotas"

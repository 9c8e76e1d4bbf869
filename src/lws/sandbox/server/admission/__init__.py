"""Admission: who is asked about a write, with what, and what comes of the answer.

Law: no network; the calls of webhooks are made by a `WebhookClient`.
"""

from lws.sandbox.server.admission.calling import LocalWebhooks as LocalWebhooks
from lws.sandbox.server.admission.calling import WebhookCallError as WebhookCallError
from lws.sandbox.server.admission.calling import WebhookClient as WebhookClient
from lws.sandbox.server.admission.calling import WebhookTarget as WebhookTarget
from lws.sandbox.server.admission.chain import chain_of as chain_of
from lws.sandbox.server.admission.webhooks import Webhooks as Webhooks

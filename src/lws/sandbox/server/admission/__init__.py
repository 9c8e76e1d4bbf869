"""Admission webhooks: who is asked about a write, with what, and what comes of the answer.

Law: no network; the calls themselves are made by a `WebhookClient`.
"""

from lws.sandbox.server.admission.calling import LocalWebhooks as LocalWebhooks
from lws.sandbox.server.admission.calling import WebhookCallError as WebhookCallError
from lws.sandbox.server.admission.calling import WebhookClient as WebhookClient
from lws.sandbox.server.admission.calling import WebhookTarget as WebhookTarget
from lws.sandbox.server.admission.chain import Webhooks as Webhooks

"""The server on a port: HTTP and HTTPS, tokens, watches as they come; and calls to webhooks.

Law: the only part of the sandbox with a network. Decides nothing about objects.
"""

from lws.sandbox.http.audit import AuditLog as AuditLog
from lws.sandbox.http.serving import HttpServer as HttpServer
from lws.sandbox.http.serving import ListenOptions as ListenOptions
from lws.sandbox.http.webhooks import HttpWebhooks as HttpWebhooks

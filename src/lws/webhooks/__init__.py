"""AdmissionReview in, AdmissionReview out.

Law: decides nothing; admission does.
"""

from lws.webhooks.dispatch import handle

__all__ = ["handle"]

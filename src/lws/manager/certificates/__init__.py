"""Certificates that the manager makes itself: a CA and a serving certificate, in one Secret.

Law: `authority` and `planning` are pure but for the making of keys; `keeper` reads and writes.
"""

from lws.manager.certificates.keeper import CertificateKeeper as CertificateKeeper

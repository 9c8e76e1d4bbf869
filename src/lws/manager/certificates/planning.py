"""What the Secret should hold, given what it holds and the time (manager.md, Webhooks).

The CA outlives many serving certificates. When it nears its end a new one is put into the bundle
first; only when both webhook configurations trust it does it sign. So an API server trusts what we
serve at any moment, whichever replica it asks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lws.manager.certificates.authority import (
    KeyPair,
    Unreadable,
    can_sign,
    hosts_of,
    is_pair,
    is_signed_by,
    lifetime,
    new_authority,
    new_serving,
    split_bundle,
)

CA_CERT, CA_KEY, TLS_CERT, TLS_KEY = "ca.crt", "ca.key", "tls.crt", "tls.key"
"""Keys of the Secret: those of the public controller."""

AUTHORITY_NAME = "lws-ca"
AUTHORITY_DAYS = 3650.0
SERVING_DAYS = 365.0
RENEWED_AT = 2 / 3
"""Of its lifetime: a third is left for whatever keeps us from it."""

UNTRUSTED_SECONDS = 5.0
"""How soon to look again while a new CA waits to be trusted."""

Data = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class CertificatePlan:
    """What to write, and what to serve and to trust until then."""

    data: dict[str, bytes] | None
    """The Secret's new content; None: as it is."""
    serving: KeyPair | None
    """What stands and can be served; None: nothing yet."""
    bundle: bytes
    """What the webhook configurations must trust; empty: nothing yet."""
    why: str
    """Reason of a write, for the log."""
    wake_after: float
    """Seconds until time alone brings the next write."""


def plan_certificates(
    data: Data, *, hosts: Sequence[str], now: float, is_bundle_trusted: bool
) -> CertificatePlan:
    """The next write, if one is due. `is_bundle_trusted`: both configurations hold `bundle`."""
    authority = KeyPair(data.get(CA_CERT, b""), data.get(CA_KEY, b""))
    if not _is_usable(authority, now):
        return _everything_anew(hosts, now)
    serving = KeyPair(data.get(TLS_CERT, b""), data.get(TLS_KEY, b""))
    served = serving if is_pair(serving) else None
    bundle = authority.certificate
    if _share(authority.certificate, now) >= RENEWED_AT:
        renewed = new_authority(name=AUTHORITY_NAME, now=now, days=AUTHORITY_DAYS)
        both = renewed.certificate + split_bundle(bundle)[0]
        written = {**data, CA_CERT: both, CA_KEY: renewed.key}
        return CertificatePlan(written, served, bundle, "the CA nears its end", 0.0)
    why = _why_serving(served, authority, hosts=hosts, now=now)
    signed_by_older = served is not None and why == "it was signed by an older CA"
    if why and (not signed_by_older or is_bundle_trusted):
        made = new_serving(authority, hosts=hosts, now=now, days=SERVING_DAYS)
        written = {
            CA_CERT: bundle,
            CA_KEY: authority.key,
            TLS_CERT: made.certificate,
            TLS_KEY: made.key,
        }
        return CertificatePlan(written, served, bundle, why, 0.0)
    assert served is not None, "without one there is a reason to make one"
    if signed_by_older:
        return CertificatePlan(None, served, bundle, "", UNTRUSTED_SECONDS)
    wake = min(_seconds_left(authority.certificate, now), _seconds_left(served.certificate, now))
    return CertificatePlan(None, served, bundle, "", max(wake, 60.0))


def _everything_anew(hosts: Sequence[str], now: float) -> CertificatePlan:
    authority = new_authority(name=AUTHORITY_NAME, now=now, days=AUTHORITY_DAYS)
    serving = new_serving(authority, hosts=hosts, now=now, days=SERVING_DAYS)
    written = {
        CA_CERT: authority.certificate,
        CA_KEY: authority.key,
        TLS_CERT: serving.certificate,
        TLS_KEY: serving.key,
    }
    return CertificatePlan(written, None, b"", "there is no usable CA", 0.0)


def _is_usable(authority: KeyPair, now: float) -> bool:
    """Whether it can sign and is trusted by time; one from the future is another clock's."""
    return can_sign(authority) and lifetime(authority.certificate)[1] > now


def _why_serving(
    served: KeyPair | None, authority: KeyPair, *, hosts: Sequence[str], now: float
) -> str:
    """Why a new serving certificate is due; empty: it is not."""
    if served is None:
        return "there is no usable serving certificate"
    if not set(hosts) <= hosts_of(served.certificate):
        return "it is for other names"
    if _share(served.certificate, now) >= RENEWED_AT:
        return "it nears its end"
    if is_signed_by(served.certificate, authority.certificate):
        return ""
    older = split_bundle(authority.certificate)[1:]
    if any(is_signed_by(served.certificate, one) for one in older):
        return "it was signed by an older CA"
    return "it was signed by another CA"


def _share(certificate: bytes, now: float) -> float:
    """How much of its lifetime is over."""
    try:
        start, end = lifetime(certificate)
    except Unreadable:
        return 1.0
    return (now - start) / max(end - start, 1.0)


def _seconds_left(certificate: bytes, now: float) -> float:
    start, end = lifetime(certificate)
    return start + (end - start) * RENEWED_AT - now

"""Kubernetes timestamps (RFC 3339, UTC) to seconds since the epoch and back."""

from datetime import UTC, datetime


def parse_time(text: str) -> float:
    """Seconds since the epoch of an RFC 3339 time; ValueError if it is none."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"time without a zone: {text!r}")
    return moment.timestamp()


def format_time(seconds: float) -> str:
    """A `metav1.Time`: whole seconds, UTC."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def format_micro_time(seconds: float) -> str:
    """A `metav1.MicroTime`: six decimals, UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

"""Who acts: the Lease that both operators take. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from lws.base.times import parse_time
from lws.cli.check.findings import Finding, Severity, Subject, Topic

Document = Mapping[str, Any]
NAME = "b8b2488c.x-k8s.io"


def holder_of(lease: Document) -> str:
    """Empty: it has been given up."""
    return str((lease.get("spec") or {}).get("holderIdentity") or "")


def is_held(lease: Document, *, now: float) -> bool:
    """Whether its holder has renewed it in time."""
    spec = lease.get("spec") or {}
    renewed = str(spec.get("renewTime") or "")
    if not holder_of(lease) or not renewed:
        return False
    return now < parse_time(renewed) + float(spec.get("leaseDurationSeconds") or 0)


def lease_line(lease: Document | None, *, image: str | None, now: float) -> str:
    """Who acts, in a line."""
    if lease is None:
        return "nobody has ever held it: no operator acts"
    place = f"{lease['metadata']['namespace']}/{lease['metadata']['name']}"
    if not is_held(lease, now=now):
        return f"{place} is free: no operator acts"
    ago = max(0, round(now - parse_time(lease["spec"]["renewTime"])))
    runs = f" ({image})" if image else ""
    return f"{place} is held by {holder_of(lease)}{runs}, renewed {ago} s ago"


def judge_leases(leases: Sequence[Document], *, namespace: str, now: float) -> list[Finding]:
    """One lease keeps two operators apart; in two namespaces there are two."""
    findings = []
    for lease in leases:
        metadata = lease["metadata"]
        if metadata["namespace"] == namespace or not is_held(lease, now=now):
            continue
        findings.append(
            Finding(
                severity=Severity.ERROR,
                topic=Topic.LEASE,
                about=Subject("Lease", metadata["namespace"], metadata["name"]),
                message=f"is held by {holder_of(lease)}: an operator in namespace {namespace} "
                "takes another Lease, and both would act at once",
                hint="install ours in that namespace (or set leaderElection.resourceNamespace), "
                "and name it here with --operator-namespace",
            )
        )
    return findings

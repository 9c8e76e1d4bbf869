"""Which checks a level has, as of which version."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lws.sandbox.server.admission.podsecurity import baseline, restricted
from lws.sandbox.server.admission.podsecurity.levels import BASELINE, PRIVILEGED, Policy
from lws.sandbox.server.admission.podsecurity.pods import JsonObject, Pod, Violation


@dataclass(frozen=True, slots=True)
class _Check:
    """`since`: the minor version that has it first; `stricter`: from which on restricted has
    another in its place."""

    run: Callable[[Pod], Violation | None]
    since: int = 0
    stricter: int | None = None


_BASELINE = (
    _Check(baseline.app_armor),
    _Check(baseline.capabilities, stricter=22),
    _Check(baseline.host_namespaces),
    _Check(baseline.host_path, stricter=0),
    _Check(baseline.host_ports),
    _Check(baseline.host_probes, since=34),
    _Check(baseline.privileged),
    _Check(baseline.proc_mount, stricter=35),
    _Check(baseline.selinux),
    _Check(baseline.seccomp, stricter=19),
    _Check(baseline.sysctls),
    _Check(baseline.windows_host_process),
)
_RESTRICTED = (
    _Check(restricted.privilege_escalation, since=8),
    _Check(restricted.capabilities, since=22),
    _Check(baseline.any_proc_mount, since=35),
    _Check(restricted.volumes),
    _Check(restricted.run_as_non_root),
    _Check(restricted.run_as_user, since=23),
    _Check(restricted.seccomp, since=19),
)


def violations(policy: Policy, metadata: JsonObject, spec: JsonObject) -> list[Violation]:
    """What a pod, or a template, does that the policy does not allow; in the server's order."""
    if policy.level == PRIVILEGED:
        return []
    pod = Pod(metadata, spec, policy.minor)
    found = (check.run(pod) for check in _checks(policy))
    return [one for one in found if one is not None]


def _checks(policy: Policy) -> Sequence[_Check]:
    known = [one for one in (*_BASELINE, *_RESTRICTED) if one.since <= policy.minor]
    if policy.level == BASELINE:
        return [one for one in known if one in _BASELINE]
    return [one for one in known if one.stricter is None or one.stricter > policy.minor]

"""Why a pod is not ready, in plain words: one pod in, one clause out."""

import re
from collections.abc import Iterator

from lws.api import names
from lws.cli.everyday.family import Document, condition, is_true

_NODES = re.compile(r"^(\d+)/(\d+) nodes are available: (.*)$", re.DOTALL)
_COUNTED = re.compile(r"^(\d+) (.*)$", re.DOTALL)
_REASON_BOUNDARY = re.compile(r", (?=\d+ )")
_OTHER_SENTENCES = re.compile(r"\. (?=no new claims|preemption: |not found)")
_IMAGE_REASONS = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull")


def state_of(pod: Document) -> str:
    """One word: ready, running, pending, failed, succeeded, ending, unknown."""
    if pod["metadata"].get("deletionTimestamp"):
        return "ending"
    if is_true(pod, "Ready"):
        return "ready"
    return str(pod.get("status", {}).get("phase") or "Pending").lower()


def why_not_ready(pod: Document) -> str:
    """A clause that goes behind the state; empty if it is ready, or nothing is known."""
    if state_of(pod) in ("ready", "ending"):
        return ""
    status = pod.get("status", {})
    if status.get("phase") == "Failed" and status.get("reason"):
        message = status.get("message") or "no message"
        return f"{str(status['reason']).lower()}: {message}"
    if not pod.get("spec", {}).get("nodeName"):
        return _not_placed(pod)
    return next(_of_containers(pod), "") or _of_gates(pod)


def restarts_of(pod: Document) -> int:
    """Restarts of its containers."""
    status = pod.get("status", {})
    listed = [*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ())]
    return sum(int(one.get("restartCount", 0)) for one in listed)


def _not_placed(pod: Document) -> str:
    gates = [gate["name"] for gate in pod.get("spec", {}).get("schedulingGates") or ()]
    if gates:
        return f"held back by scheduling gate {', '.join(gates)}"
    scheduled = condition(pod, "PodScheduled")
    if scheduled is None or scheduled["status"] == "True":
        return "not looked at by a scheduler yet"
    words = placing_words(scheduled.get("message") or scheduled.get("reason") or "no node fits")
    return _exclusive_words(pod, words)


def _exclusive_words(pod: Document, words: str) -> str:
    """The affinities of exclusive placement are ours, and known to nobody by these names."""
    annotations = pod["metadata"].get("annotations") or {}
    for key, part in _EXCLUSIVE:
        if annotations.get(key):
            taken = f"are taken by other {part}s (exclusive placement by {annotations[key]})"
            for ours in (_ITS_ANTI_AFFINITY, _THEIR_ANTI_AFFINITY):
                words = words.replace(ours, taken)
            words = words.replace(_ITS_AFFINITY, f"are not where its {part} is")
    return words


_EXCLUSIVE = ((names.EXCLUSIVE_TOPOLOGY, "group"), (names.SUBGROUP_EXCLUSIVE_TOPOLOGY, "subgroup"))
_ITS_AFFINITY = "are not where its affinity wants it"
_ITS_ANTI_AFFINITY = "are kept free by its anti-affinity"
_THEIR_ANTI_AFFINITY = "hold pods that want no such company"


def placing_words(message: str) -> str:
    """A scheduler's message in words; as it stands if it is of another form."""
    if _GANG in message:
        return _gang_words(message)
    matched = _NODES.match(message)
    if matched is None:
        return message.strip().rstrip(".")
    fitting, total = matched[1], matched[2]
    text = _OTHER_SENTENCES.split(matched[3])[0].strip().rstrip(".")
    for pattern, words in _ANYWHERE:
        if re.fullmatch(pattern, text):
            return re.sub(pattern, words, text)
    reasons = _REASON_BOUNDARY.split(text)
    nowhere = [one for one in reasons if one.startswith(f"{total} Insufficient ")]
    others = ", ".join(_placing_reason(one) for one in reasons if one not in nowhere)
    if not nowhere:
        return f"{fitting}/{total} nodes fit: {others}"
    lacking = " or ".join(one.partition("Insufficient ")[2] for one in nowhere)
    words = f"{fitting}/{total} nodes have {lacking} to spare"
    return f"{words} ({others})" if others else words


_GANG = "pod group is not ready"
_GANG_NODES = re.compile(r"\d+/\d+ nodes are available: .*", re.DOTALL)


def _gang_words(message: str) -> str:
    """That its group must be placed whole, and why that cannot be, if it is said."""
    inner = _GANG_NODES.search(message)
    why = placing_words(inner[0]) if inner else message.strip().rstrip(".")
    return f"its gang finds no room as a whole: {why}"


_ANYWHERE = (
    (r"pod has unbound immediate PersistentVolumeClaims", "its volume claims are not bound yet"),
    (r'persistentvolumeclaim "(.+)" not found', r"its volume claim \1 is not there"),
    (
        r'persistentvolumeclaim "(.+)" is being deleted',
        r"its volume claim \1 is being deleted",
    ),
)
"""No node is to blame."""

_PLACING = (
    (r"Insufficient (\S+)", r"lack \1"),
    (r"Too many pods", "hold all the pods that they may"),
    (r"node\(s\) had untolerated taint\(?s?\)? ?(.*)", r"have a taint not tolerated \1"),
    (r"node\(s\) didn't match Pod's node affinity/selector", "do not match the node selector"),
    (r"node\(s\) didn't match pod affinity rules", _ITS_AFFINITY),
    (r"node\(s\) didn't match pod anti-affinity rules", _ITS_ANTI_AFFINITY),
    (
        r"node\(s\) didn't satisfy existing pods anti-affinity rules",
        _THEIR_ANTI_AFFINITY,
    ),
    (r"node\(s\) didn't have free ports for the requested pod ports", "have its ports in use"),
    (
        r"node\(s\) didn't match pod topology spread constraints.*",
        "would spread such pods too unevenly",
    ),
    (r"node\(s\) had volume node affinity conflict", "cannot reach its volume"),
    (r"node\(s\) were unschedulable", "are cordoned"),
)


def _placing_reason(text: str) -> str:
    counted = _COUNTED.match(text)
    if counted is None:
        return text
    for pattern, words in _PLACING:
        if re.fullmatch(pattern, counted[2]):
            return f"{counted[1]} {re.sub(pattern, words, counted[2]).strip()}"
    return text


def _of_containers(pod: Document) -> Iterator[str]:
    status = pod.get("status", {})
    for kind, field in (
        ("init container", "initContainerStatuses"),
        ("container", "containerStatuses"),
    ):
        for one in status.get(field) or ():
            words = _of_container(one, is_init=kind != "container")
            if words:
                yield f"{kind} {one['name']} {words}"


def _of_container(one: Document, *, is_init: bool) -> str:
    state = one.get("state") or {}
    if "waiting" in state:
        return _waiting(one, state["waiting"])
    if "terminated" in state:
        ended = state["terminated"]
        is_done = is_init and ended.get("exitCode") == 0
        return "" if is_done else f"ended with {_exit(ended)}"
    if is_init:
        return "" if one.get("started") and one.get("ready") else "is still running"
    return "" if one.get("ready") else "runs but is not ready"


def _waiting(one: Document, waiting: Document) -> str:
    reason = str(waiting.get("reason") or "")
    message = str(waiting.get("message") or "").strip()
    if reason == "CrashLoopBackOff":
        last = (one.get("lastState") or {}).get("terminated")
        return "crashes again and again" + (f", last with {_exit(last)}" if last else "")
    if reason in _IMAGE_REASONS:
        return f"cannot get its image {one.get('image', '')}".rstrip()
    if reason == "ContainerCreating":
        return "is being created"
    if reason == "PodInitializing":
        return "waits for the init containers"
    return ": ".join(part for part in (f"waits, {reason}" if reason else "waits", message) if part)


def _exit(ended: Document) -> str:
    reason = str(ended.get("reason") or "")
    words = f" ({reason})" if reason not in ("", "Error", "Completed") else ""
    return f"exit code {ended.get('exitCode', 0)}{words}"


def _of_gates(pod: Document) -> str:
    gates = [gate["conditionType"] for gate in pod.get("spec", {}).get("readinessGates") or ()]
    unmet = [gate for gate in gates if not is_true(pod, gate)]
    if unmet:
        return f"readiness gate {', '.join(unmet)} not met"
    return "" if pod.get("status", {}).get("containerStatuses") else "not started by its node yet"

"""Whose logs: from pods to sources with a short label, and words for those that have none. Pure."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from lws.api import names
from lws.base.errors import InvalidInput
from lws.cli.everyday.family import Document, group_of, labels_of
from lws.cli.everyday.reasons import state_of, why_not_ready

DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"
SOURCES_MAX = 100
"""Each is a connection of its own, to the API server and from it to a kubelet."""
_SPAN = re.compile(r"(?:\d+(?:\.\d+)?[hms])+")
_PARTS = re.compile(r"(\d+(?:\.\d+)?)([hms])")
_UNITS = {"h": 3600, "m": 60, "s": 1}
_LISTS = (("containers", "containerStatuses"), ("initContainers", "initContainerStatuses"))


@dataclass(frozen=True, slots=True)
class Life:
    """One run of one container: what a log belongs to."""

    uid: str
    restarts: int


@dataclass(frozen=True, slots=True)
class Source:
    """A container whose log is wanted, as it stands now."""

    label: str
    namespace: str
    pod: str
    container: str
    life: Life
    state: str
    """waiting, running or ended."""
    words: str
    """Why there is nothing new to read; empty while it runs."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which pods and containers were asked for."""

    groups: tuple[int, ...] = ()
    role: str | None = None
    container: str | None = None

    def includes(self, pod: Document) -> bool:
        """Is it of a group and role that was asked for?"""
        is_group = not self.groups or group_of(pod) in self.groups
        return is_group and (self.role is None or labels_of(pod).get(names.DS_ROLE) == self.role)


def sources_of(pods: Iterable[Document], choice: Choice) -> list[Source]:
    """Chosen pods' sources: leader before workers, group after group, role after role."""
    chosen = sorted(filter(choice.includes, pods), key=_place)
    slices = {labels_of(pod).get(names.DS_SLICE, "") for pod in chosen}
    revisions = {labels_of(pod).get(names.DS_REVISION, "") for pod in chosen}
    found = []
    for pod in chosen:
        label = label_of(pod, slices=len(slices) > 1, revisions=len(revisions) > 1)
        found.append(_source(pod, label, container_of(pod, choice.container)))
    return found


def label_of(pod: Document, *, slices: bool, revisions: bool) -> str:
    """The pod's name; of a DisaggregatedSet only what tells it from its siblings."""
    name, labels = str(pod["metadata"]["name"]), labels_of(pod)
    role = labels.get(names.DS_ROLE)
    if role is None:
        return name
    group, worker = group_of(pod), labels.get(names.WORKER_INDEX, "0")
    parts = (role, "" if group is None else str(group), worker if worker != "0" else "")
    short = "-".join(part for part in parts if part)
    if slices:
        short = f"{labels.get(names.DS_SLICE, '0')}/{short}"
    return f"{short}@{labels.get(names.DS_REVISION, '')}" if revisions else short


def _place(pod: Document) -> tuple[int, str, int, int, str]:
    labels = labels_of(pod)
    return (
        _number(labels.get(names.DS_SLICE, "")),
        labels.get(names.DS_ROLE, ""),
        group_of(pod) or 0,
        _number(labels.get(names.WORKER_INDEX, "")),
        str(pod["metadata"]["name"]),
    )


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0


def container_of(pod: Document, asked: str | None) -> str:
    """The one that was asked for, the pod's default one, or the first; InvalidInput names it."""
    spec = pod.get("spec", {})
    listed = [one["name"] for field, _ in _LISTS for one in spec.get(field) or ()]
    if asked is not None:
        if asked in listed:
            return asked
        message = f"pod {pod['metadata']['name']} has no container {asked!r}; it has: "
        raise InvalidInput(field="--container", message=message + ", ".join(listed))
    default = (pod["metadata"].get("annotations") or {}).get(DEFAULT_CONTAINER)
    return str(default if default in listed else listed[0])


def _source(pod: Document, label: str, container: str) -> Source:
    metadata, status = pod["metadata"], pod.get("status", {})
    entries = (one for _, field in _LISTS for one in status.get(field) or ())
    entry: Document = next((one for one in entries if one["name"] == container), {})
    state = next(iter(entry.get("state") or {"waiting": {}}))
    return Source(
        label=label,
        namespace=metadata["namespace"],
        pod=metadata["name"],
        container=container,
        life=Life(metadata["uid"], int(entry.get("restartCount") or 0)),
        state={"running": "running", "terminated": "ended"}.get(state, "waiting"),
        words=_words(pod, container, entry),
    )


def _words(pod: Document, container: str, entry: Document) -> str:
    """What to say of a pod whose log does not go on."""
    state = entry.get("state") or {}
    if pod["metadata"].get("deletionTimestamp"):
        return "is ending"
    if "running" in state:
        return ""
    if "terminated" in state:
        ended = state["terminated"]
        reason = f" ({ended['reason']})" if ended.get("reason") not in (None, "Error") else ""
        return f"container {container} ended with exit code {ended.get('exitCode', 0)}{reason}"
    return ", ".join(part for part in (state_of(pod), why_not_ready(pod)) if part)


def require_few(sources: Sequence[Source]) -> None:
    """InvalidInput if there are too many to read at once."""
    if len(sources) > SOURCES_MAX:
        message = f"there are {len(sources)} pods, and at most {SOURCES_MAX} are read at once; "
        raise InvalidInput(field="--group", message=message + "choose groups, such as -g 0 -g 1")


def require_groups(pods: Iterable[Document], choice: Choice, *, wanted: int | None) -> None:
    """InvalidInput for a role or group that is neither there nor wanted."""
    listed = list(pods)
    roles = sorted({role for pod in listed if (role := labels_of(pod).get(names.DS_ROLE))})
    if choice.role is not None and roles and choice.role not in roles:
        message = f"there is no role {choice.role!r}; there are: {', '.join(roles)}"
        raise InvalidInput(field="--role", message=message)
    there = {group for pod in listed if (group := group_of(pod)) is not None}
    for group in choice.groups:
        if group not in there and not (wanted is not None and group < wanted):
            names_ = ", ".join(map(str, sorted(there))) or "none"
            message = f"there is no group {group}; there are: {names_}"
            raise InvalidInput(field="--group", message=message)


def seconds_of(text: str) -> int:
    """Of a span such as 90, 30s, 5m or 1h30m; InvalidInput for anything else."""
    if text.isascii() and text.isdigit() and int(text) > 0:
        return int(text)
    if _SPAN.fullmatch(text):
        total = sum(float(number) * _UNITS[unit] for number, unit in _PARTS.findall(text))
        if total >= 1:
            return int(total)
    message = f"must be a span of a second or more, such as 30s, 5m or 1h30m, not {text!r}"
    raise InvalidInput(field="--since", message=message)


def missing(choice: Choice, there: Collection[int | None]) -> Iterator[str]:
    """A line for each group that was asked for and has no pod yet."""
    for group in choice.groups:
        if group not in there:
            yield f"group {group}: not made yet"

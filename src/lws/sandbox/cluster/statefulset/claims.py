"""The claims of a set's pods: made from the templates, owned as the retention policy says."""

from collections.abc import Iterable, Iterator

from lws.sandbox.cluster.absent import find
from lws.sandbox.cluster.context import CLAIMS, CONTROLLERS, Context
from lws.sandbox.cluster.events import Source
from lws.sandbox.cluster.objects import (
    is_terminating,
    labels_of,
    name_of,
    namespace_of,
    owner_reference,
    owners_of,
    uid_of,
    with_metadata,
)
from lws.sandbox.cluster.statefulset.identity import (
    claim_name,
    claim_templates_of,
    is_in_range,
    ordinal_of,
    spec_of,
)
from lws.sandbox.cluster.worker import Again
from lws.sandbox.server.status import ApiStatus
from lws.sandbox.server.verbs import JsonObject

SOURCE = Source("statefulset-controller")


class Claims:
    """Reads and writes claims; reads are of the server itself."""

    def __init__(self, context: Context) -> None:
        self._api = context.api
        self._recorder = context.recorder

    async def create_missing(self, stateful_set: JsonObject, pod: JsonObject) -> None:
        """All that the pod needs; one that is being deleted is waited for.

        One that is refused does not hold up the others, and all problems are told together.
        """
        problems = []
        for wanted in _wanted(stateful_set, pod):
            present = self._find(wanted)
            if present is None:
                try:
                    await self._create(stateful_set, pod, wanted)
                except ApiStatus as refusal:
                    problems.append(f"failed to create PVC {name_of(wanted)}: {refusal.message}")
            elif is_terminating(present):
                problems.append(f"pvc {name_of(wanted)} is being deleted")
        if problems:
            raise Again(problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")

    def are_stale(self, stateful_set: JsonObject, pod: JsonObject) -> bool:
        """Does a claim belong to a former pod of the name, with which it is to go?"""
        if not _policy(stateful_set)[1]:
            return False
        return any(_is_stale(claim, pod) for claim in self._present(stateful_set, pod))

    def match_policy(self, stateful_set: JsonObject, pod: JsonObject) -> bool:
        """Are all claims owned as the retention policy says?"""
        return all(
            _is_as_wanted(claim, stateful_set, pod) for claim in self._present(stateful_set, pod)
        )

    async def apply_policy(self, stateful_set: JsonObject, pod: JsonObject) -> None:
        """Have all claims owned as the retention policy says."""
        for claim in self._present(stateful_set, pod):
            if _has_other_controller(claim, stateful_set, pod):
                self._recorder.warning(
                    SOURCE,
                    stateful_set,
                    "ConflictingController",
                    f"PersistentVolumeClaim {name_of(claim)} has a conflicting OwnerReference that"
                    " acts as a manging controller, the retention policy is ignored for this claim",
                )
            if not _is_as_wanted(claim, stateful_set, pod):
                owners = list(_wanted_owners(claim, stateful_set, pod))
                await self._api.update(
                    CLAIMS,
                    with_metadata(claim, ownerReferences=owners or None),
                    namespace=namespace_of(claim),
                    caller=CONTROLLERS,
                )

    async def _create(self, stateful_set: JsonObject, pod: JsonObject, claim: JsonObject) -> None:
        name, set_name = name_of(claim), name_of(stateful_set)
        try:
            await self._api.create(CLAIMS, claim, namespace=namespace_of(claim), caller=CONTROLLERS)
        except ApiStatus as refusal:
            if refusal.reason != "AlreadyExists":
                self._recorder.warning(
                    SOURCE,
                    stateful_set,
                    "FailedCreate",
                    f"Create Claim {name} for Pod {name_of(pod)} in StatefulSet {set_name} failed"
                    f" error: {refusal.message}",
                )
            raise
        self._recorder.normal(
            SOURCE,
            stateful_set,
            "SuccessfulCreate",
            f"Create Claim {name} Pod {name_of(pod)} in StatefulSet {set_name} success",
        )

    def _present(self, stateful_set: JsonObject, pod: JsonObject) -> Iterator[JsonObject]:
        for wanted in _wanted(stateful_set, pod):
            present = self._find(wanted)
            if present is not None:
                yield present

    def _find(self, claim: JsonObject) -> JsonObject | None:
        return find(self._api, CLAIMS, name=name_of(claim), namespace=namespace_of(claim))


def _wanted(stateful_set: JsonObject, pod: JsonObject) -> Iterator[JsonObject]:
    """The pod's claims as the templates have them."""
    selected = (spec_of(stateful_set).get("selector") or {}).get("matchLabels") or {}
    for template in claim_templates_of(stateful_set):
        metadata = dict(template["metadata"])
        metadata.pop("creationTimestamp", None)
        yield {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {
                **metadata,
                "name": claim_name(stateful_set, template, ordinal_of(pod)),
                "namespace": namespace_of(stateful_set),
                "labels": {**labels_of(template), **selected},
            },
            "spec": template["spec"],
        }


def _policy(stateful_set: JsonObject) -> tuple[bool, bool]:
    """Do claims go with the set, and with pods that are scaled away?"""
    policy = spec_of(stateful_set).get("persistentVolumeClaimRetentionPolicy") or {}
    return policy.get("whenDeleted") == "Delete", policy.get("whenScaled") == "Delete"


def _refers(owner: JsonObject, obj: JsonObject) -> bool:
    """By its name, whichever life of it is meant."""
    return (owner["apiVersion"], owner["kind"], owner["name"]) == (
        obj["apiVersion"],
        obj["kind"],
        name_of(obj),
    )


def _is_stale(claim: JsonObject, obj: JsonObject) -> bool:
    """Is the claim owned by a former life of the object?"""
    uid = obj["metadata"].get("uid")
    owner = next((one for one in owners_of(claim) if _refers(one, obj)), None)
    return owner is not None and owner["uid"] != uid


def _owns(claim: JsonObject, obj: JsonObject) -> bool:
    return any(owner["uid"] == obj["metadata"].get("uid") for owner in owners_of(claim))


def _has_other_controller(claim: JsonObject, stateful_set: JsonObject, pod: JsonObject) -> bool:
    if not any(_policy(stateful_set)):
        return False
    for owner in owners_of(claim):
        ours = next((obj for obj in (stateful_set, pod) if _refers(owner, obj)), None)
        if ours is not None:
            if owner["uid"] != ours["metadata"].get("uid"):
                return True
        elif owner.get("controller"):
            return True
    return False


def _is_as_wanted(claim: JsonObject, stateful_set: JsonObject, pod: JsonObject) -> bool:
    if _is_stale(claim, stateful_set) or _is_stale(claim, pod):
        return True  # somebody else's business
    if _has_other_controller(claim, stateful_set, pod):
        return not (_owns(claim, stateful_set) or _owns(claim, pod))
    uids = {uid_of(stateful_set), pod["metadata"].get("uid")}
    if any(owner["uid"] in uids and not owner.get("controller") for owner in owners_of(claim)):
        return False
    by_set, by_pod = _wanted_ownership(stateful_set, pod)
    return _owns(claim, stateful_set) is by_set and _owns(claim, pod) is by_pod


def _wanted_ownership(stateful_set: JsonObject, pod: JsonObject) -> tuple[bool, bool]:
    """Is the set to own the claim, and is the pod?"""
    with_set, with_scaling = _policy(stateful_set)
    by_pod = with_scaling and not is_in_range(pod, stateful_set)
    return with_set and not by_pod, by_pod


def _wanted_owners(
    claim: JsonObject, stateful_set: JsonObject, pod: JsonObject
) -> Iterable[JsonObject]:
    """All other owners, then ours."""
    for owner in owners_of(claim):
        if not _refers(owner, stateful_set) and not _refers(owner, pod):
            yield owner
    if _has_other_controller(claim, stateful_set, pod):
        return
    by_set, by_pod = _wanted_ownership(stateful_set, pod)
    if by_set:
        yield owner_reference(stateful_set)
    if by_pod:
        yield owner_reference(pod)

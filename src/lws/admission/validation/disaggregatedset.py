"""The rules of a DisaggregatedSet (api.md section 3; disaggregatedset.md section 5)."""

import re
from collections.abc import Iterator

from lws.admission import defaulting
from lws.admission.validation.leaderworkerset import check_spec, label_length
from lws.admission.validation.naming import (
    DNS_LABEL_RULE,
    LABEL_LENGTH_MAX,
    expected_name,
    is_dns_label,
)
from lws.admission.validation.places import Place
from lws.admission.validation.subgroups import check_subgroup_topology
from lws.admission.validation.verdict import Cause
from lws.api import names

_ROLES_MIN, _ROLES_MAX = 2, 10
_SLICES_MAX = 100
_ROLE_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_SCALER_NAME_MAX = 253
_REVISION_LENGTH = 8
_SERVICE_SUFFIX = "-prv"
EXTERNAL = "External"
_MODES = (defaulting.STATIC, EXTERNAL)
_PLACEMENTS = (defaulting.NO_PLACEMENT, "ExclusiveSlice", "ExclusiveTopology")
_EXCLUSIVE = (names.EXCLUSIVE_TOPOLOGY, names.SUBGROUP_EXCLUSIVE_TOPOLOGY)
_APP = "app"


def check_name(document: Place) -> None:
    """The beginning of the names of Services, hence a Service's name itself."""
    name = _name(document)
    place = document["metadata"]["name"]
    if not name:
        place.require("give the set a name")
    elif not is_dns_label(name):
        place.error(Cause.INVALID, DNS_LABEL_RULE)


def check_object(document: Place) -> None:
    """Everything but the set's own name."""
    spec = document["spec"]
    roles = list(spec["roles"])
    spec["slices"].bounded(1, _SLICES_MAX, default=defaulting.SLICES)
    _check_role_list(spec["roles"], roles)
    for role in roles:
        _check_role(role)
        _check_names(role, document=document)
        _warn(role, set_name=_name(document))
    _check_zeroes(spec["roles"], roles)
    _check_slices(spec["slices"], roles)
    _check_placement(spec["placementPolicy"], roles)


def _check_role_list(place: Place, roles: list[Place]) -> None:
    is_list = place.value is None or isinstance(place.value, list)
    if place.reachable and is_list and not _ROLES_MIN <= len(roles) <= _ROLES_MAX:
        place.error(
            Cause.INVALID, f"must have {_ROLES_MIN} to {_ROLES_MAX} roles, has {len(roles)}"
        )
    seen: set[str] = set()
    for role in roles:
        name = role["name"].text()
        if name is not None and name in seen:
            role["name"].error(Cause.DUPLICATE, "each role needs a name of its own")
        seen.add(name or "")


def _check_role(role: Place) -> None:
    _check_role_name(role["name"])
    is_external = _is_external(role)
    for kind in ("labels", "annotations"):
        role["metadata"][kind].fields()
    spec = role["spec"]
    check_spec(spec, is_scaled=is_external)
    partition = spec["rolloutStrategy"]["rollingUpdateConfiguration"]["partition"]
    if partition.integer():
        partition.error(
            Cause.FORBIDDEN,
            "partition is not supported in a role, since all roles are updated together: remove it",
        )


def _check_role_name(name: Place) -> None:
    name.require("give the role a name")
    text = name.text()
    if text and not _ROLE_NAME.fullmatch(text):
        name.error(
            Cause.INVALID,
            "must be 1 to 63 lower-case letters, digits and dashes,"
            " starting and ending with a letter or digit",
        )


def _check_names(role: Place, *, document: Place) -> None:
    """What is made from the names of set and role: Service, LeaderWorkerSet, scaler."""
    set_name, role_name = _name(document), role["name"].text() or ""
    slices = document["spec"]["slices"].bounded(1, _SLICES_MAX, default=defaulting.SLICES)
    if not set_name or not role_name or slices is None:
        return
    lws_length = len(f"{set_name}-{slices - 1}--{role_name}") + _REVISION_LENGTH
    excess = lws_length + len(_SERVICE_SUFFIX) - LABEL_LENGTH_MAX
    if excess > 0:
        role["name"].error(
            Cause.INVALID,
            f"makes a Service name of {LABEL_LENGTH_MAX + excess} characters with the name of the"
            f" set; {LABEL_LENGTH_MAX} is the most: shorten one of them by {excess}",
        )
    elif (length := label_length(role["spec"], name_length=lws_length) or 0) > LABEL_LENGTH_MAX:
        role.report.warn(
            f"{role['name'].path}: makes label values of {length} characters with the name of the"
            f" set; its LeaderWorkerSet will be refused above {LABEL_LENGTH_MAX}: shorten one of"
            f" them by {length - LABEL_LENGTH_MAX}"
        )
    if _is_external(role) and len(f"{set_name}-{role_name}") > _SCALER_NAME_MAX:
        role["name"].error(
            Cause.INVALID,
            f"makes a scaler name of {len(f'{set_name}-{role_name}')} characters with the name of"
            f" the set; {_SCALER_NAME_MAX} is the most: shorten one of them",
        )


def _check_zeroes(place: Place, roles: list[Place]) -> None:
    """Half a topology at rest serves nobody."""
    counts = [role["spec"]["replicas"].integer() or 0 for role in roles if not _is_external(role)]
    if any(count > 0 for count in counts) and not all(count > 0 for count in counts):
        place.error(
            Cause.INVALID,
            "set replicas of all roles that are not External to 0, or of all of them to more",
        )


def _check_slices(slices: Place, roles: list[Place]) -> None:
    count = slices.bounded(1, _SLICES_MAX, default=defaulting.SLICES)
    if count is not None and count > 1 and any(_is_external(role) for role in roles):
        slices.error(
            Cause.FORBIDDEN,
            "must be 1 while a role has scaling.mode External: scale that role instead",
        )


def _check_placement(policy: Place, roles: list[Place]) -> None:
    placement = policy["type"].one_of(_PLACEMENTS, default=defaulting.NO_PLACEMENT)
    topology = policy["topology"]
    topology.text()
    if placement == defaulting.NO_PLACEMENT:
        for role in roles:
            template = role["spec"]["leaderWorkerTemplate"]
            check_subgroup_topology(role["metadata"], template=template)
        return
    topology.require(f"name the node label that type {placement} places by")
    for role in roles:
        for metadata in (role["metadata"], *_pod_metadata(role)):
            _forbid_exclusive(metadata, policy=policy, placement=placement)


def _forbid_exclusive(metadata: Place, *, policy: Place, placement: str) -> None:
    for key in _EXCLUSIVE:
        annotation = metadata["annotations"].entry(key)
        if annotation.is_set:
            annotation.error(
                Cause.FORBIDDEN,
                f"cannot be combined with {policy.path}.type {placement}: remove one of the two",
            )


def _warn(role: Place, *, set_name: str) -> None:
    name = role["name"].text() or ""
    replicas = role["spec"]["replicas"].integer() or 0
    if _is_external(role) and replicas > 1:
        role.report.warn(
            f"{role.path}.spec.replicas: is ignored with scaling.mode External;"
            f" scale DisaggregatedSetRoleScaler {set_name}-{name} instead"
        )
    for metadata in _pod_metadata(role):
        label = metadata["labels"].entry(_APP)
        if label.is_set:
            role.report.warn(
                f"{label.path}: is replaced by <set>-<slice>-{name}, which the wire reserves"
            )


def _pod_metadata(role: Place) -> Iterator[Place]:
    template = role["spec"]["leaderWorkerTemplate"]
    for name in ("leaderTemplate", "workerTemplate"):
        yield template[name]["metadata"]


def _is_external(role: Place) -> bool:
    mode = role["scaling"]["mode"].one_of(_MODES, default=defaulting.STATIC)
    return mode == EXTERNAL


def _name(document: Place) -> str:
    metadata = document["metadata"]
    return expected_name(metadata["name"].text(), metadata["generateName"].text())

"""What users write: sets of every shape, and changes of them."""

from copy import deepcopy
from typing import Any

from lws.api import names
from lws.simulation.chance import Chance

Manifest = dict[str, Any]
NAMESPACE = "default"


def new_set(chance: Chance, name: str) -> Manifest:
    """A LeaderWorkerSet."""
    return {
        "apiVersion": names.API_VERSION,
        "kind": names.KIND,
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": set_spec(chance, replicas=chance.integer(0, 4)),
    }


def new_roles(chance: Chance, name: str) -> Manifest:
    """A DisaggregatedSet of two or three roles."""
    roles = ["prefill", "decode", "encode"][: chance.integer(2, 3)]
    return {
        "apiVersion": names.DS_API_VERSION,
        "kind": names.DS_KIND,
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "roles": [_role(chance, role) for role in roles],
            "slices": chance.one_of((1, 1, 1, 2)),
        },
    }


def _role(chance: Chance, name: str) -> Manifest:
    spec = set_spec(chance, replicas=chance.integer(1, 3))
    configuration = spec["rolloutStrategy"]["rollingUpdateConfiguration"]
    configuration.pop("partition", None)
    return {"name": name, "spec": spec}


def set_spec(chance: Chance, *, replicas: int) -> Manifest:
    """Of a LeaderWorkerSet, or of a role."""
    size = chance.integer(1, 3)
    template: Manifest = {
        "size": size,
        "restartPolicy": chance.one_of(
            (
                "RecreateGroupOnPodRestart",
                "RecreateGroupOnPodRestart",
                "RecreateGroupAfterStart",
                "None",
            )
        ),
        "workerTemplate": _pod(chance.integer(1, 5)),
    }
    if chance.happens(0.3):
        template["leaderTemplate"] = _pod(chance.integer(1, 5))
    spec: Manifest = {
        "replicas": replicas,
        "leaderWorkerTemplate": template,
        "rolloutStrategy": {
            "type": "RollingUpdate",
            "rollingUpdateConfiguration": budgets(chance),
        },
    }
    if chance.happens(0.3):
        spec["startupPolicy"] = "LeaderReady"
    if chance.happens(0.2):
        spec["networkConfig"] = {"subdomainPolicy": "UniquePerReplica"}
    return spec


def budgets(chance: Chance) -> Manifest:
    """Never none at all."""
    surge, unavailable = chance.integer(0, 2), chance.integer(0, 2)
    found: Manifest = {"maxSurge": surge, "maxUnavailable": unavailable or (0 if surge else 1)}
    if chance.happens(0.15):
        found["maxUnavailable"] = "50%"
    if chance.happens(0.15):
        found["partition"] = chance.integer(0, 2)
    return found


def _pod(version: int) -> Manifest:
    return {"spec": {"containers": [{"name": "serve", "image": f"serve:{version}"}]}}


# Changes of a LeaderWorkerSet's spec, by what a user would call them.


def roll(chance: Chance, spec: Manifest) -> None:
    """Another image; now and then another size, or what was before."""
    template = spec["leaderWorkerTemplate"]
    template["workerTemplate"] = _pod(chance.integer(1, 5))
    if "leaderTemplate" in template and chance.happens(0.5):
        template["leaderTemplate"] = _pod(chance.integer(1, 5))
    if chance.happens(0.25):
        template["size"] = chance.integer(1, 3)


def scale(chance: Chance, spec: Manifest) -> None:
    """Up or down."""
    spec["replicas"] = chance.integer(0, 5)


def rebudget(chance: Chance, spec: Manifest) -> None:
    """Other bounds for the update that runs, or the next."""
    spec["rolloutStrategy"]["rollingUpdateConfiguration"] = budgets(chance)


def pause(chance: Chance, spec: Manifest) -> None:
    """Or go on."""
    del chance
    spec["paused"] = not spec.get("paused", False)


def both(chance: Chance, spec: Manifest) -> None:
    """A new image and another number at once."""
    roll(chance, spec)
    scale(chance, spec)


SPEC_CHANGES = {roll: 5.0, scale: 3.0, rebudget: 1.0, pause: 0.5, both: 1.0}


def changed_set(chance: Chance, manifest: Manifest) -> Manifest:
    """A LeaderWorkerSet as its user wants it now."""
    changed = deepcopy(manifest)
    chance.weighted(SPEC_CHANGES)(chance, changed["spec"])
    return changed


def changed_roles(chance: Chance, manifest: Manifest) -> Manifest:
    """A DisaggregatedSet as its user wants it now."""
    changed = deepcopy(manifest)
    spec = changed["spec"]
    roles = spec["roles"]
    match chance.integer(0, 9):
        case 0 if len(roles) == 2:
            roles.append(_role(chance, "encode"))
        case 0 if len(roles) > 2:
            roles.pop(chance.integer(0, len(roles) - 1))
        case 1:
            spec["slices"] = chance.integer(1, 2)
        case 2 | 3:
            for role in roles:
                role["spec"]["replicas"] = chance.integer(1, 4)
        case 4:
            role = chance.one_of(roles)
            configuration = budgets(chance)
            configuration.pop("partition", None)
            role["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"] = configuration
        case _:
            for role in roles:
                if chance.happens(0.7):
                    roll(chance, role["spec"])
    return changed

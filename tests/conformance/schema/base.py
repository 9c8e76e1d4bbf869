"""Good objects of each kind, from which the cases are made by changing a field."""

import copy
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One object, whose name says what is special about it."""

    name: str
    obj: Json

    @property
    def kind(self) -> tuple[str, str, str]:
        """(group, version, kind)."""
        group, _, version = self.obj["apiVersion"].rpartition("/")
        return group, version, self.obj["kind"]


def changed(obj: Json, **changes: Any) -> Json:
    """A copy with other values: `spec__containers__0__image="x"`.

    None removes; the index after the last adds.
    """
    made = copy.deepcopy(obj)
    for path, value in changes.items():
        *steps, last = [int(one) if one.isdecimal() else one for one in path.split("__")]
        place: Any = made
        for step in steps:
            place = place[step] if isinstance(step, int) else place.setdefault(step, {})
        if value is None:
            place.pop(last, None)
        elif isinstance(place, list) and last == len(place):
            place.append(value)
        else:
            place[last] = value
    return made


CONTAINER: Json = {"name": "main", "image": "nginx:1.27"}
POD: Json = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "pod"},
    "spec": {"containers": [CONTAINER]},
}
TEMPLATE: Json = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {"containers": [CONTAINER]},
}
SET: Json = {
    "apiVersion": "apps/v1",
    "kind": "StatefulSet",
    "metadata": {"name": "web"},
    "spec": {
        "serviceName": "web",
        "selector": {"matchLabels": {"app": "web"}},
        "template": TEMPLATE,
    },
}
CLAIM: Json = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data"},
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    },
}
SERVICE: Json = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web"},
    "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
}


def of(kind: str, api_version: str = "v1", **fields: Any) -> Json:
    """An object with a name and some fields."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "one"}, **fields}

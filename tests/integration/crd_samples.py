"""Objects for the CRDs: the smallest ones, and one with every field of a pod template set."""

from __future__ import annotations

from typing import Any

from lws.api.schema.gotypes import GoType, parse_type, struct_fields

Json = dict[str, Any]

FILLINGS: dict[str, Any] = {
    "string": "a",
    "bool": True,
    "int32": 1,
    "int64": 2**40,
    "quantity": "1500m",
    "intorstring": "25%",
    "time": "2026-01-02T03:04:05Z",
    "raw": {"f:a": {}},
}
SMALL_TEMPLATE: Json = {"spec": {"containers": [{"name": "a", "image": "a"}]}}
SMALL_SPEC: Json = {"leaderWorkerTemplate": {"workerTemplate": SMALL_TEMPLATE}}


def full(expression: str) -> Any:
    """A value of this Go type with every field set."""
    return _full(parse_type(expression))


def _full(go: GoType) -> Any:
    if go.kind == "struct":
        fields = struct_fields(go.struct).values()
        return {field.name: _full(field.type) for field in fields}
    if go.kind == "list":
        assert go.item is not None
        return [_full(go.item)]
    if go.kind == "map":
        assert go.item is not None
        return {"example.com/a": _full(go.item)}
    return FILLINGS[go.kind]


def leader_worker_set(name: str, spec: Json) -> Json:
    return _object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", name, spec)


def disaggregated_set(name: str, spec: Json) -> Json:
    return _object("disaggregatedset.x-k8s.io/v1", "DisaggregatedSet", name, spec)


def role_scaler(name: str, spec: Json) -> Json:
    return _object("disaggregatedset.x-k8s.io/v1", "DisaggregatedSetRoleScaler", name, spec)


def roles(*replicas: int | None, scaling: str | None = None) -> Json:
    """The spec of a DisaggregatedSet with a role for each count; `scaling` of the first."""
    made = [
        {
            "name": f"role-{index}",
            "spec": SMALL_SPEC | ({} if count is None else {"replicas": count}),
        }
        for index, count in enumerate(replicas)
    ]
    if scaling is not None:
        made[0] |= {"scaling": {"mode": scaling}}
    return {"roles": made}


def _object(version: str, kind: str, name: str, spec: Json) -> Json:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}

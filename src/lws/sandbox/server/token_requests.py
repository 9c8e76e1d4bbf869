"""serviceaccounts/NAME/token: a token for an account."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lws.base.times import format_time
from lws.client.resources import Resource
from lws.sandbox.schema.builtin import schema_of
from lws.sandbox.schema.model import Schema
from lws.sandbox.server import status, writes
from lws.sandbox.server.authentication.accounts import ISSUER, Claims
from lws.sandbox.server.documents import part
from lws.sandbox.server.kinds import Kind
from lws.sandbox.server.operations import Operation, World
from lws.sandbox.server.status import ApiStatus, Cause, Subject
from lws.sandbox.store import Key

JsonObject = dict[str, Any]

SECONDS_MIN = 600
_SECONDS_MAX = 2**32
_SECONDS = 3600
_GROUP, _VERSION, _KIND = "authentication.k8s.io", "v1", "TokenRequest"
_PLURALS = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}


def _schema() -> Schema:
    schema = schema_of(_GROUP, _VERSION, _KIND)
    assert schema is not None, "it is one of ours"
    return schema


_TOKEN_REQUEST = Kind(
    resource=Resource(_GROUP, _VERSION, "tokenrequests", _KIND),
    singular="tokenrequest",
    read_schema=_schema,
)


async def request_token(world: World, operation: Operation, body: JsonObject) -> JsonObject:
    """The body with a token in its status."""
    account = writes.found(world, operation)
    _fill_in(body)
    asked = writes.asked(world, replace(operation, kind=_TOKEN_REQUEST), body)
    operation.verb = "CREATE"
    _require_valid(operation, asked)
    asked = await world.admission.mutate(operation, asked, None) or asked
    await world.admission.validate(operation, asked, None)
    spec = asked["spec"]
    bound = _bound(world, account, spec.get("boundObjectRef"))
    audiences = spec.get("audiences") or [ISSUER]
    seconds = spec["expirationSeconds"]
    token, end = world.accounts.issue(
        Claims(account=account, audiences=audiences, seconds=seconds, bound=bound)
    )
    await world.store.durable()  # its key may be new
    shown = {"audiences": audiences, "expirationSeconds": seconds, "boundObjectRef": None}
    return {
        **asked,
        "metadata": _metadata(world, account, asked["metadata"]),
        "spec": {**shown, **spec, "audiences": audiences},
        "status": {"token": token, "expirationTimestamp": format_time(end)},
    }


def _fill_in(body: JsonObject) -> None:
    spec = body.setdefault("spec", {})
    if isinstance(spec, dict):
        spec.setdefault("expirationSeconds", _SECONDS)


def _metadata(world: World, account: JsonObject, said: JsonObject) -> JsonObject:
    own = account["metadata"]
    shown = {name: own[name] for name in ("name", "namespace", "uid")}
    now = {"creationTimestamp": format_time(world.clock.now())}
    return {**shown, **now, "managedFields": said.get("managedFields")}


def _require_valid(operation: Operation, asked: JsonObject) -> None:
    metadata = asked["metadata"]
    if metadata.get("namespace") not in (None, "", operation.namespace):
        raise status.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if metadata.get("name") not in (None, "", operation.name):
        words = f'"{metadata["name"]}": must match the service account name if specified'
        raise _invalid("metadata.name", words, operation.name)
    seconds = asked["spec"]["expirationSeconds"]
    if seconds < SECONDS_MIN:
        words = f"{seconds}: may not specify a duration less than 10 minutes"
        raise _invalid("spec.expirationSeconds", words)
    if seconds > _SECONDS_MAX:
        words = f"{seconds}: may not specify a duration larger than 2^32 seconds"
        raise _invalid("spec.expirationSeconds", words)


def _invalid(field: str, why: str, name: str = "") -> ApiStatus:
    cause = Cause("FieldValueInvalid", f"Invalid value: {why}", field)
    return status.invalid(Subject(_GROUP, _KIND, name), [cause])


def _bound(
    world: World, account: JsonObject, ref: Mapping[str, str] | None
) -> dict[str, Mapping[str, Any]]:
    """What the token is bound to, besides its account, by the names of the claims."""
    if ref is None:
        return {}
    group, _, version = ref.get("apiVersion", "").rpartition("/")
    kind, name = ref.get("kind", ""), ref.get("name", "")
    if group or kind not in _PLURALS:
        raise status.bad_request(
            f"cannot bind token to object of type {group}/{version}, Kind={kind}"
        )
    namespace = "" if kind == "Node" else account["metadata"]["namespace"]
    found = world.store.get(Key(f"/{_PLURALS[kind]}", namespace, name))
    if found is None:
        raise status.not_found(Subject("", _PLURALS[kind], name))
    _require_bindable(account, ref, found)
    bound: dict[str, Mapping[str, Any]] = {kind.lower(): found}
    node = part(found, "spec", "nodeName") if kind == "Pod" else None
    if node:
        bound["node"] = world.store.get(Key("/nodes", "", node)) or {"metadata": {"name": node}}
    return bound


def _require_bindable(account: JsonObject, ref: Mapping[str, str], found: JsonObject) -> None:
    name = account["metadata"]["name"]
    if ref["kind"] == "Pod" and part(found, "spec", "serviceAccountName") != name:
        raise status.bad_request(
            f'cannot bind token for serviceaccount "{name}" to pod running with different'
            " serviceaccount name."
        )
    uid = ref.get("uid")
    if uid and uid != found["metadata"]["uid"]:
        raise status.conflict(
            Subject("", ref["kind"], ref.get("name", "")),
            f"the UID in the bound object reference ({uid}) does not match the UID in record. The"
            " object might have been deleted and then recreated",
        )

"""The client against a real API server: what its documentation leaves open, asked of it."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import msgspec
import pytest

from harness.plane import Plane
from lws.client import errors
from lws.client.connection import AuthenticationConfig, ConnectionConfig
from lws.client.kubeconfig import load_config
from lws.client.kubernetes import KubernetesClient
from lws.client.requests import PatchType, Priority, encode, raw_get, replace
from lws.client.resources import (
    CONTROLLERREVISIONS,
    LEADERWORKERSETS,
    LEASES,
    PODS,
    SERVICES,
    STATEFULSETS,
    Resource,
)
from lws.client.responses import JsonObject
from lws.client.transport import HttpTransport
from lws.client.watch import EventType, WatchEvent
from lws.runtime.clock import RealClock

CONFIGMAPS = Resource("", "v1", "configmaps", "ConfigMap")
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
QUOTAS = Resource("", "v1", "resourcequotas", "ResourceQuota")


def connection(kubeconfig: Path) -> ConnectionConfig:
    return load_config(kubeconfig=str(kubeconfig), context=None, environ={})


@pytest.fixture
async def client(control_plane: Plane) -> AsyncIterator[KubernetesClient]:
    """An administrator's client."""
    config = connection(control_plane.admin_kubeconfig)
    async with HttpTransport(config, clock=RealClock()) as transport:
        yield KubernetesClient(transport)


def config_map(name: str, **data: str) -> JsonObject:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "labels": {"app": "test"}},
        "data": data,
    }


async def make(client: KubernetesClient, namespace: str, name: str, **data: str) -> JsonObject:
    """A new config map."""
    return await client.create(CONFIGMAPS, namespace=namespace, body=config_map(name, **data))


def name_in(event: WatchEvent) -> str:
    found: str = msgspec.json.decode(event.object_bytes)["metadata"].get("name", "")
    return found


# Reading


async def test_the_server_says_its_version(client: KubernetesClient) -> None:
    assert (await client.request_object(raw_get("/version")))["major"] == "1"


async def test_a_list_goes_on_where_its_page_ended(
    client: KubernetesClient, namespace: str
) -> None:
    names = [f"m{i}" for i in range(7)]
    await asyncio.gather(*[make(client, namespace, name) for name in names])
    query = {"namespace": namespace, "label_selector": "app=test"}
    first = await client.list_page(CONFIGMAPS, limit=3, **query)
    assert len(first.items) == 3
    second = await client.list_page(
        CONFIGMAPS, limit=3, continue_token=first.continue_token, **query
    )
    assert second.resource_version == first.resource_version
    whole = await client.list_all(CONFIGMAPS, limit=3, **query)
    assert [item["metadata"]["name"] for item in whole.items] == names
    assert not whole.continue_token


async def test_a_watch_gives_what_happens_after_its_list(
    client: KubernetesClient, namespace: str
) -> None:
    version = (await client.list_all(CONFIGMAPS, namespace=namespace)).resource_version
    async with client.watch(
        CONFIGMAPS, namespace=namespace, label_selector="app=test", resource_version=version
    ) as events:
        await make(client, namespace, "a")
        await client.apply(
            CONFIGMAPS,
            namespace=namespace,
            name="a",
            body={"apiVersion": "v1", "kind": "ConfigMap", "data": {"x": "é" * 100_000}},
            field_manager="test",
        )
        await client.delete(CONFIGMAPS, namespace=namespace, name="a")
        found = [await anext(events) for _ in range(3)]
    assert [event.type for event in found] == [
        EventType.ADDED,
        EventType.MODIFIED,
        EventType.DELETED,
    ]
    assert {name_in(event) for event in found} == {"a"}


async def test_a_watch_can_begin_with_what_is_there_and_a_bookmark_ends_that(
    client: KubernetesClient, namespace: str
) -> None:
    await make(client, namespace, "a")
    async with client.watch(
        CONFIGMAPS,
        namespace=namespace,
        label_selector="app=test",
        resource_version="",
        send_initial_events=True,
    ) as events:
        first, second = await anext(events), await anext(events)
    assert (first.type, name_in(first)) == (EventType.ADDED, "a")
    assert second.type is EventType.BOOKMARK
    metadata = msgspec.json.decode(second.object_bytes)["metadata"]
    assert metadata["annotations"]["k8s.io/initial-events-end"] == "true"
    assert metadata["resourceVersion"]


async def test_a_watch_ends_without_an_error_when_its_time_is_over(
    client: KubernetesClient, namespace: str
) -> None:
    version = (await client.list_all(CONFIGMAPS, namespace=namespace)).resource_version
    async with client.watch(
        CONFIGMAPS,
        namespace=namespace,
        label_selector="app=test",
        resource_version=version,
        timeout_seconds=1,
    ) as events:
        assert [event async for event in events] == []


async def test_a_watch_from_before_what_the_server_remembers_has_expired(
    client: KubernetesClient,
) -> None:
    """Of our own kind: the server began to remember it when it was defined, not at version 1."""
    await client.list_all(LEADERWORKERSETS)
    async with client.watch(LEADERWORKERSETS, resource_version="1") as events:
        with pytest.raises(errors.Expired, match="too old resource version"):
            await anext(events)


async def test_a_watch_that_the_server_refuses_is_an_answers_error(
    client: KubernetesClient, namespace: str
) -> None:
    with pytest.raises(errors.BadRequest):
        async with client.watch(
            CONFIGMAPS, namespace=namespace, label_selector="a=(", resource_version="1"
        ):
            pass


# Writing


@pytest.mark.parametrize(
    ("patch_type", "body"),
    [
        (PatchType.JSON, [{"op": "replace", "path": "/data/a", "value": "2"}]),
        (PatchType.MERGE, {"data": {"a": "2"}}),
        (PatchType.STRATEGIC, {"data": {"a": "2"}}),
        (PatchType.APPLY, {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "2"}}),
    ],
)
async def test_each_patch_type_is_understood(
    client: KubernetesClient, namespace: str, patch_type: PatchType, body: object
) -> None:
    await make(client, namespace, "m", a="1", b="1")
    is_apply = patch_type is PatchType.APPLY
    patched = await client.patch(
        CONFIGMAPS,
        namespace=namespace,
        name="m",
        body=body,
        patch_type=patch_type,
        field_manager="test",
        force=True if is_apply else None,
    )
    assert patched["data"] == {"a": "2", "b": "1"}


async def test_a_json_patch_whose_test_fails_changes_nothing(
    client: KubernetesClient, namespace: str
) -> None:
    await make(client, namespace, "m", a="1")
    body = [{"op": "test", "path": "/data/a", "value": "other"}]
    with pytest.raises(errors.Invalid):
        await client.patch(
            CONFIGMAPS, namespace=namespace, name="m", body=body, patch_type=PatchType.JSON
        )


async def apply(
    client: KubernetesClient, namespace: str, manager: str, *, force: bool = False
) -> JsonObject:
    """The manager applies its own value for one field."""
    return await client.apply(
        CONFIGMAPS,
        namespace=namespace,
        name="m",
        body=config_map("m", owner=manager),
        field_manager=manager,
        force=force,
    )


async def test_two_managers_of_one_field_conflict_until_one_forces(
    client: KubernetesClient, namespace: str
) -> None:
    await apply(client, namespace, "one")
    with pytest.raises(errors.Conflict) as e:
        await apply(client, namespace, "two")
    assert e.value.is_apply_conflict
    assert [cause.field for cause in e.value.causes] == [".data.owner"]
    forced = await apply(client, namespace, "two", force=True)
    assert forced["data"] == {"owner": "two"}


async def test_an_apply_that_changes_nothing_makes_no_new_version(
    client: KubernetesClient, namespace: str
) -> None:
    first = await apply(client, namespace, "one")
    second = await apply(client, namespace, "one")
    assert second["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


async def test_a_replace_of_an_old_version_conflicts(
    client: KubernetesClient, namespace: str
) -> None:
    old = await make(client, namespace, "m", a="1")
    for value in ("2", "3"):
        body = {**old, "data": {"a": value}}
        replacing = client.replace(CONFIGMAPS, namespace=namespace, name="m", body=body)
        if value == "2":
            assert (await replacing)["data"] == {"a": "2"}
        else:
            with pytest.raises(errors.Conflict) as e:
                await replacing
            assert not e.value.is_apply_conflict


async def test_a_name_that_is_taken_is_told_from_a_conflict(
    client: KubernetesClient, namespace: str
) -> None:
    await make(client, namespace, "m")
    with pytest.raises(errors.AlreadyExists):
        await make(client, namespace, "m")


async def test_a_delete_is_of_the_life_and_version_that_were_seen(
    client: KubernetesClient, namespace: str
) -> None:
    made = await make(client, namespace, "m")
    uid, version = made["metadata"]["uid"], made["metadata"]["resourceVersion"]
    delete = partial(client.delete, CONFIGMAPS, namespace=namespace, name="m")
    with pytest.raises(errors.Conflict, match="UID in the precondition"):
        await delete(uid="another")
    with pytest.raises(errors.Conflict, match="ResourceVersion in the precondition"):
        await delete(uid=uid, resource_version="1")
    await delete(uid=uid, resource_version=version, dry_run=True)
    await delete(uid=uid, resource_version=version)
    with pytest.raises(errors.NotFound):
        await delete()


async def test_a_dry_run_answers_and_leaves_nothing(
    client: KubernetesClient, namespace: str
) -> None:
    body = config_map("m", a="1")
    made = await client.create(CONFIGMAPS, namespace=namespace, body=body, dry_run=True)
    assert made["data"] == {"a": "1"}
    with pytest.raises(errors.NotFound):
        await client.get(CONFIGMAPS, namespace=namespace, name="m")


async def test_the_lease_is_written_at_its_priority(
    client: KubernetesClient, namespace: str
) -> None:
    body = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "l"},
        "spec": {"holderIdentity": "a"},
    }
    made = await client.create(LEASES, namespace=namespace, body=body)
    made["spec"]["holderIdentity"] = "b"
    request = replace(LEASES, namespace=namespace, name="l", body=encode(made))
    renewed = await client.request_object(request.at_priority(Priority.LEASE).within(5))
    assert renewed["spec"]["holderIdentity"] == "b"


# Refusals


async def test_an_invalid_object_names_every_field(
    client: KubernetesClient, namespace: str
) -> None:
    body = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s"},
        "spec": {"ports": [{"port": 0}, {"port": 70000}]},
    }
    with pytest.raises(errors.Invalid) as e:
        await client.create(SERVICES, namespace=namespace, body=body)
    fields = {cause.field for cause in e.value.causes}
    assert {"spec.ports[0].port", "spec.ports[1].port", "spec.ports[0].name"} <= fields


async def test_what_the_server_cannot_read_is_a_bad_request(
    client: KubernetesClient, namespace: str
) -> None:
    with pytest.raises(errors.BadRequest):
        await client.create(STATEFULSETS, namespace=namespace, body=b'{"spec": []}')


async def test_a_used_up_quota_is_told_from_missing_rights(
    client: KubernetesClient, namespace: str
) -> None:
    spec = {"hard": {"count/services": "0"}}
    body = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": spec}
    await client.create(QUOTAS, namespace=namespace, body=body)
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s"},
        "spec": {"clusterIP": "None"},
    }
    error: errors.ApiError | None = None
    for _ in range(100):  # the server learns of the quota a moment later
        try:
            await client.create(SERVICES, namespace=namespace, body=service, dry_run=True)
        except errors.ApiError as found:
            error = found
            if isinstance(found, errors.Forbidden) and found.is_quota:
                return
        await asyncio.sleep(0.1)
    pytest.fail(f"never refused by quota, last: {error}")


async def test_a_namespace_that_is_going_away_is_told_from_missing_rights(
    client: KubernetesClient, namespace: str
) -> None:
    held = config_map("held")
    held["metadata"]["finalizers"] = ["test.example/held"]
    await client.create(CONFIGMAPS, namespace=namespace, body=held)
    await client.delete(NAMESPACES, name=namespace)
    try:
        with pytest.raises(errors.Forbidden) as e:
            await make(client, namespace, "late")
        assert e.value.is_namespace_terminating
        assert not e.value.is_quota
    finally:
        await client.patch(
            CONFIGMAPS,
            namespace=namespace,
            name="held",
            body={"metadata": {"finalizers": None}},
            patch_type=PatchType.MERGE,
        )


async def test_missing_rights_are_forbidden(control_plane: Plane, namespace: str) -> None:
    config = connection(control_plane.restricted_kubeconfig)
    async with HttpTransport(config, clock=RealClock()) as transport:
        with pytest.raises(errors.Forbidden, match="cannot list resource") as e:
            await KubernetesClient(transport).list_page(PODS, namespace=namespace)
    assert not e.value.is_quota
    assert not e.value.is_namespace_terminating


async def test_an_unknown_token_is_unauthorized(control_plane: Plane) -> None:
    known = connection(control_plane.admin_kubeconfig)
    config = ConnectionConfig(
        server=known.server, tls=known.tls, authentication=AuthenticationConfig(token="unknown")
    )
    async with HttpTransport(config, clock=RealClock()) as transport:
        with pytest.raises(errors.Unauthorized):
            await KubernetesClient(transport).request_object(raw_get("/api"))


# The server going away


async def test_a_server_that_dies_cuts_watches_and_is_found_again(
    control_plane: Plane, client: KubernetesClient, namespace: str
) -> None:
    version = (await client.list_all(CONFIGMAPS, namespace=namespace)).resource_version
    try:
        async with client.watch(
            CONFIGMAPS, namespace=namespace, label_selector="app=test", resource_version=version
        ) as events:
            await make(client, namespace, "a")
            assert name_in(await anext(events)) == "a"
            await asyncio.to_thread(control_plane.kill_apiserver)
            with pytest.raises(errors.TransportError):
                await anext(events)
        with pytest.raises(errors.TransportError) as e:
            await client.get(CONFIGMAPS, namespace=namespace, name="a")
        assert not e.value.was_sent
    finally:
        await asyncio.to_thread(control_plane.start_apiserver)
    assert (await client.get(CONFIGMAPS, namespace=namespace, name="a"))["kind"] == "ConfigMap"


async def test_a_revision_of_any_text_can_be_patched_beside_its_data(
    client: KubernetesClient, namespace: str
) -> None:
    revision = {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {"name": "recorded", "labels": {"app": "test"}},
        "revision": 1,
        "data": {"z": 'serve 2>&1 && echo "<\u2028\u2029ü>"', "a": {"$patch": "replace"}},
    }
    await client.create(CONTROLLERREVISIONS, namespace=namespace, body=revision)
    after = await client.patch(
        CONTROLLERREVISIONS,
        namespace=namespace,
        name="recorded",
        body={"revision": 2, "metadata": {"labels": {"app": "other"}}},
        patch_type=PatchType.MERGE,
    )
    assert (after["revision"], after["data"]) == (2, revision["data"])

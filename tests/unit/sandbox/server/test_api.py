"""The verbs on plain objects."""

from typing import Any

import pytest

from lws.client.requests import PatchType, Propagation
from lws.client.resources import NODES, PODS, STATEFULSETS, Resource
from lws.runtime.clock import VirtualClock
from lws.sandbox.server import (
    ApiStatus,
    Caller,
    DeleteOptions,
    EventType,
    ListOptions,
    Server,
    WatchOptions,
)

CONFIGMAPS = Resource("", "v1", "configmaps", "ConfigMap")
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
BUDGETS = Resource("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget")


def _map(name: str = "a", **data: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "data": data}


def _pod(name: str = "p", **labels: str) -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": "i"}]}
    return {"metadata": {"name": name, "labels": labels}, "spec": spec}


async def test_a_created_object_has_what_the_server_fills_in(
    server: Server, clock: VirtualClock
) -> None:
    made = await server.api.create(CONFIGMAPS, _map(x="y"), namespace="default")
    metadata = made["metadata"]
    assert made["kind"] == "ConfigMap"
    assert made["apiVersion"] == "v1"
    assert metadata["namespace"] == "default"
    assert len(metadata["uid"]) == 36
    assert metadata["creationTimestamp"] == "2027-01-15T08:00:00Z"
    assert server.api.get(CONFIGMAPS, name="a", namespace="default") == made


async def test_a_generated_name_begins_with_its_prefix_and_differs(server: Server) -> None:
    body = {"metadata": {"generateName": "web-"}}
    names = {
        (await server.api.create(CONFIGMAPS, body, namespace="default"))["metadata"]["name"]
        for _ in range(20)
    }
    assert len(names) == 20
    assert all(name.startswith("web-") and len(name) == 9 for name in names)


async def test_an_update_that_saw_an_older_version_is_refused(server: Server) -> None:
    made = await server.api.create(CONFIGMAPS, _map(), namespace="default")
    await server.api.update(CONFIGMAPS, {**made, "data": {"a": "1"}}, namespace="default")
    with pytest.raises(ApiStatus, match="the object has been modified") as caught:
        await server.api.update(CONFIGMAPS, {**made, "data": {"a": "2"}}, namespace="default")
    assert caught.value.code == 409


async def test_an_update_without_a_change_is_no_revision(server: Server) -> None:
    made = await server.api.create(CONFIGMAPS, _map(a="1"), namespace="default")
    before = server.store.revision
    same = await server.api.update(CONFIGMAPS, made, namespace="default")
    patched = await server.api.patch(
        CONFIGMAPS,
        {"data": {"a": "1"}},
        patch_type=PatchType.MERGE,
        name="a",
        namespace="default",
    )
    assert server.store.revision == before
    assert same["metadata"]["resourceVersion"] == patched["metadata"]["resourceVersion"]


async def test_what_comes_out_is_not_shared_with_what_went_in(server: Server) -> None:
    body = _map(a="1")
    await server.api.create(CONFIGMAPS, body, namespace="default")
    body["data"]["a"] = "2"
    assert server.api.get(CONFIGMAPS, name="a", namespace="default")["data"] == {"a": "1"}


async def test_generation_counts_changes_of_the_spec_alone(server: Server) -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": _pod()["spec"]}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "serviceName": "s", "template": template}
    body = {"metadata": {"name": "s"}, "spec": spec}
    await server.api.create(STATEFULSETS, body, namespace="default")

    async def generation(patch: dict[str, Any], subresource: str = "") -> int:
        await server.api.patch(
            STATEFULSETS,
            patch,
            patch_type=PatchType.MERGE,
            name="s",
            namespace="default",
            subresource=subresource,
        )
        found = server.api.get(STATEFULSETS, name="s", namespace="default")
        number: int = found["metadata"]["generation"]
        return number

    assert await generation({"metadata": {"labels": {"x": "y"}}}) == 1
    assert await generation({"status": {"replicas": 7}}) == 1
    assert await generation({"status": {"replicas": 7}}, "status") == 1
    assert await generation({"spec": {"replicas": 3}}) == 2
    assert await generation({"spec": {"replicas": 5}}, "scale") == 3
    assert await generation({"spec": {"replicas": 9}}, "status") == 3
    found = server.api.get(STATEFULSETS, name="s", namespace="default")
    assert found["spec"]["replicas"] == 5
    assert found["status"]["replicas"] == 7


async def test_a_dry_run_answers_and_stores_nothing(server: Server) -> None:
    before = server.store.revision
    caller = Caller(dry_run=True)
    made = await server.api.create(CONFIGMAPS, _map(), namespace="default", caller=caller)
    assert made["metadata"]["uid"]
    assert server.store.revision == before


async def test_a_pod_on_a_node_is_deleted_with_grace_others_at_once(server: Server) -> None:
    await server.api.create(PODS, _pod("waiting"), namespace="default")
    await server.api.delete(PODS, name="waiting", namespace="default")
    with pytest.raises(ApiStatus, match="not found"):
        server.api.get(PODS, name="waiting", namespace="default")
    await server.api.create(PODS, _pod("placed"), namespace="default")
    binding = {"metadata": {"name": "placed"}, "target": {"kind": "Node", "name": "n"}}
    await server.api.create(
        PODS, binding, namespace="default", name="placed", subresource="binding"
    )
    leaving = await server.api.delete(PODS, name="placed", namespace="default")
    assert leaving["metadata"]["deletionGracePeriodSeconds"] == 30
    assert leaving["metadata"]["deletionTimestamp"] == "2027-01-15T08:00:30Z"
    shorter = DeleteOptions(grace_period_seconds=5)
    leaving = await server.api.delete(PODS, name="placed", namespace="default", options=shorter)
    assert leaving["metadata"]["deletionTimestamp"] == "2027-01-15T08:00:05Z"
    at_once = DeleteOptions(grace_period_seconds=0)
    await server.api.delete(PODS, name="placed", namespace="default", options=at_once)
    assert server.api.list(PODS).items == []


async def test_finalizers_hold_an_object_until_the_last_is_gone(server: Server) -> None:
    body = {"metadata": {"name": "a", "finalizers": ["x.y/z"]}}
    await server.api.create(CONFIGMAPS, body, namespace="default")
    held = await server.api.delete(CONFIGMAPS, name="a", namespace="default")
    assert held["metadata"]["deletionTimestamp"]
    await server.api.patch(
        CONFIGMAPS,
        {"metadata": {"finalizers": None}},
        patch_type=PatchType.MERGE,
        name="a",
        namespace="default",
    )
    assert server.api.list(CONFIGMAPS).items == []


@pytest.mark.parametrize(
    ("propagation", "finalizer"),
    [(Propagation.ORPHAN, "orphan"), (Propagation.FOREGROUND, "foregroundDeletion")],
)
async def test_propagation_is_left_to_the_garbage_collector(
    server: Server, propagation: Propagation, finalizer: str
) -> None:
    await server.api.create(CONFIGMAPS, _map(), namespace="default")
    options = DeleteOptions(propagation=propagation)
    held = await server.api.delete(CONFIGMAPS, name="a", namespace="default", options=options)
    assert held["metadata"]["finalizers"] == [finalizer]


async def test_a_deletion_is_of_one_life_only(server: Server) -> None:
    made = await server.api.create(CONFIGMAPS, _map(), namespace="default")
    for options in (DeleteOptions(uid="other"), DeleteOptions(resource_version="1")):
        with pytest.raises(ApiStatus, match="in the precondition") as caught:
            await server.api.delete(CONFIGMAPS, name="a", namespace="default", options=options)
        assert caught.value.code == 409
    exact = DeleteOptions(
        uid=made["metadata"]["uid"], resource_version=made["metadata"]["resourceVersion"]
    )
    done = await server.api.delete(CONFIGMAPS, name="a", namespace="default", options=exact)
    assert done["status"] == "Success"


async def test_lists_are_chosen_by_labels_and_fields(server: Server) -> None:
    for name, color in (("a", "red"), ("b", "blue"), ("c", "")):
        labels = {"color": color} if color else {}
        await server.api.create(PODS, _pod(name, **labels), namespace="default")

    def names(*, label_selector: str = "", field_selector: str = "") -> list[str]:
        options = ListOptions(label_selector=label_selector, field_selector=field_selector)
        found = server.api.list(PODS, namespace="default", options=options)
        return [one["metadata"]["name"] for one in found.items]

    assert names(label_selector="color=red") == ["a"]
    assert names(label_selector="color in (red, blue)") == ["a", "b"]
    assert names(label_selector="color notin (red)") == ["b", "c"]
    assert names(label_selector="color") == ["a", "b"]
    assert names(label_selector="!color") == ["c"]
    assert names(label_selector="color!=red,color") == ["b"]
    assert names(field_selector="metadata.name=b") == ["b"]
    assert names(field_selector="metadata.name!=b,status.phase=Pending") == ["a", "c"]
    with pytest.raises(ApiStatus, match="field label not supported"):
        names(field_selector="spec.nope=1")


async def test_pages_are_of_one_moment_until_it_is_forgotten(server: Server) -> None:
    for number in range(5):
        await server.api.create(CONFIGMAPS, _map(f"m{number}"), namespace="default")
    first = server.api.list(CONFIGMAPS, options=ListOptions(limit=2))
    assert first.remaining == 3
    await server.api.delete(CONFIGMAPS, name="m3", namespace="default")
    await server.api.create(CONFIGMAPS, _map("m2b"), namespace="default")
    rest = server.api.list(CONFIGMAPS, options=ListOptions(continue_token=first.continue_token))
    assert [one["metadata"]["name"] for one in rest.items] == ["m2", "m3", "m4"]
    assert rest.resource_version == first.resource_version
    server.store.forget()
    with pytest.raises(ApiStatus, match="continue parameter is too old") as caught:
        server.api.list(CONFIGMAPS, options=ListOptions(continue_token=first.continue_token))
    assert caught.value.code == 410
    again = ListOptions(continue_token=caught.value.continue_token)
    names = [one["metadata"]["name"] for one in server.api.list(CONFIGMAPS, options=again).items]
    assert names == ["m2", "m2b", "m4"]


async def test_a_watch_tells_what_comes_into_its_selection_and_what_leaves(
    server: Server,
) -> None:
    version = server.api.list(PODS).resource_version
    chosen = WatchOptions(label_selector="on=yes", resource_version=version, timeout_seconds=5)

    async def label(value: str) -> None:
        await server.api.patch(
            PODS,
            {"metadata": {"labels": {"on": value}}},
            patch_type=PatchType.MERGE,
            name="p",
            namespace="default",
        )

    async with server.api.watch(PODS, options=chosen) as watch:
        await server.api.create(PODS, _pod(on="no"), namespace="default")
        for value in ("yes", "yes", "no", "yes"):
            await label(value)
        await server.api.delete(PODS, name="p", namespace="default")
        events = [event async for event in watch]
    assert [event.type for event in events] == [
        EventType.ADDED,
        EventType.DELETED,
        EventType.ADDED,
        EventType.MODIFIED,
        EventType.DELETED,
    ]
    versions = [int(event.object["metadata"]["resourceVersion"]) for event in events]
    assert versions == sorted(versions)


async def test_a_watch_may_begin_with_what_is_there_and_says_where_that_ends(
    server: Server,
) -> None:
    await server.api.create(CONFIGMAPS, _map(), namespace="default")
    options = WatchOptions(
        send_initial_events=True, allow_bookmarks=True, timeout_seconds=150, resource_version=""
    )
    async with server.api.watch(CONFIGMAPS, options=options) as watch:
        events = [event async for event in watch]
    assert [event.type for event in events] == [
        EventType.ADDED,
        EventType.BOOKMARK,
        EventType.BOOKMARK,
        EventType.BOOKMARK,
    ]
    ends = [one.object["metadata"].get("annotations") for one in events[1:]]
    assert ends == [{"k8s.io/initial-events-end": "true"}, None, None]


async def test_a_watch_from_what_is_forgotten_is_refused_or_ends_with_an_error(
    server: Server,
) -> None:
    await server.api.create(CONFIGMAPS, _map(), namespace="default")
    first = server.store.revision
    async with server.api.watch(
        CONFIGMAPS, options=WatchOptions(resource_version=str(first))
    ) as watch:
        await server.api.create(CONFIGMAPS, _map("b"), namespace="default")
        server.store.forget()
        (event,) = [event async for event in watch]
    assert event.type is EventType.ERROR
    assert event.object["code"] == 410
    with pytest.raises(ApiStatus, match="too old resource version") as caught:
        server.api.watch(CONFIGMAPS, options=WatchOptions(resource_version=str(first)))
    assert caught.value.code == 410


async def test_a_namespace_that_goes_takes_what_is_in_it_and_lets_nothing_in(
    server: Server,
) -> None:
    async with server:
        await server.api.create(NAMESPACES, {"metadata": {"name": "doomed"}})
        held = {"metadata": {"name": "held", "finalizers": ["x.y/z"]}}
        await server.api.create(CONFIGMAPS, held, namespace="doomed")
        await server.api.create(CONFIGMAPS, _map("free"), namespace="doomed")
        await server.api.delete(NAMESPACES, name="doomed")
        with pytest.raises(ApiStatus, match="it is being terminated") as caught:
            await server.api.create(CONFIGMAPS, _map("late"), namespace="doomed")
        assert caught.value.code == 403
        await server.world.clock.sleep(10)
        names = [one["metadata"]["name"] for one in server.api.list(CONFIGMAPS).items]
        assert names == ["held"]
        await server.api.patch(
            CONFIGMAPS,
            {"metadata": {"finalizers": None}},
            patch_type=PatchType.MERGE,
            name="held",
            namespace="doomed",
        )
        await server.world.clock.sleep(10)
        with pytest.raises(ApiStatus, match="not found"):
            server.api.get(NAMESPACES, name="doomed")


async def test_nothing_is_made_in_a_namespace_that_is_not_there(server: Server) -> None:
    with pytest.raises(ApiStatus, match='namespaces "nowhere" not found'):
        await server.api.create(CONFIGMAPS, _map(), namespace="nowhere")


async def test_an_eviction_asks_the_budget(server: Server) -> None:
    await server.api.create(PODS, _pod(app="x"), namespace="default")
    await server.api.patch(
        PODS,
        {"status": {"phase": "Running"}},
        patch_type=PatchType.MERGE,
        name="p",
        namespace="default",
        subresource="status",
    )
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "x"}}}
    body = {"metadata": {"name": "b"}, "spec": spec}
    await server.api.create(BUDGETS, body, namespace="default")
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}

    async def evict() -> None:
        await server.api.create(
            PODS, eviction, namespace="default", name="p", subresource="eviction"
        )

    with pytest.raises(ApiStatus, match="would violate the pod's disruption budget") as caught:
        await evict()
    assert caught.value.code == 429
    await server.api.patch(
        BUDGETS,
        {"status": {"disruptionsAllowed": 1}},
        patch_type=PatchType.MERGE,
        name="b",
        namespace="default",
        subresource="status",
    )
    await evict()
    assert server.api.list(PODS).items == []
    budget = server.api.get(BUDGETS, name="b", namespace="default")
    assert budget["status"]["disruptionsAllowed"] == 0
    assert list(budget["status"]["disruptedPods"]) == ["p"]


async def test_a_bound_pod_is_labelled_with_the_place_of_its_node(server: Server) -> None:
    node = {"metadata": {"name": "n", "labels": {"topology.kubernetes.io/zone": "z1"}}}
    await server.api.create(NODES, node)
    await server.api.create(PODS, _pod(), namespace="default")
    binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}
    await server.api.create(PODS, binding, namespace="default", name="p", subresource="binding")
    bound = server.api.get(PODS, name="p", namespace="default")
    assert bound["spec"]["nodeName"] == "n"
    assert bound["metadata"]["labels"]["topology.kubernetes.io/zone"] == "z1"
    with pytest.raises(ApiStatus, match="already assigned"):
        await server.api.create(PODS, binding, namespace="default", name="p", subresource="binding")


async def test_apply_makes_owns_and_refuses_what_others_own(server: Server) -> None:
    def body(**data: str) -> dict[str, Any]:
        return {"apiVersion": "v1", "kind": "ConfigMap", **_map(**data)}

    async def apply(manager: str, *, force: bool = False, **data: str) -> dict[str, Any]:
        return await server.api.patch(
            CONFIGMAPS,
            body(**data),
            patch_type=PatchType.APPLY,
            name="a",
            namespace="default",
            force=force,
            caller=Caller(field_manager=manager),
        )

    await apply("one", x="1", y="1")
    with pytest.raises(ApiStatus, match='conflict with "one"') as caught:
        await apply("two", x="2")
    assert caught.value.causes[0].reason == "FieldManagerConflict"
    await apply("two", force=True, x="2")
    left = await apply("one", y="1")
    assert left["data"] == {"x": "2", "y": "1"}
    revision = server.store.revision
    await apply("one", y="1")
    assert server.store.revision == revision, "the same apply again is no write"


async def test_versions_of_an_object_share_what_did_not_change(server: Server) -> None:
    api = server.api
    made = await api.create(PODS, _pod("a"), namespace="default")
    labelled = {**made, "metadata": {**made["metadata"], "labels": {"a": "1"}}}
    changed = await api.update(PODS, labelled, namespace="default")
    assert changed["spec"] is made["spec"]
    assert changed["metadata"]["labels"] == {"a": "1"}
    assert made["metadata"].get("labels") is None

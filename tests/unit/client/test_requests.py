"""Requests as values."""

import msgspec
import orjson
import pytest

from lws.client import requests
from lws.client.requests import PatchType, Priority, Propagation, Request
from lws.client.resources import LEASES, NODES, PODS, STATEFULSETS


class Labels(msgspec.Struct, rename="camel"):
    """A view of ours in a body."""

    app_name: str


def test_a_get_names_verb_and_resource_for_metrics() -> None:
    request = requests.get(PODS, namespace="ns", name="p", subresource="status")
    assert request == Request(
        "GET", "/api/v1/namespaces/ns/pods/p/status", verb="get", resource="pods/status"
    )


def test_a_page_asks_for_what_is_given_and_nothing_else() -> None:
    request = requests.list_page(PODS, label_selector="a=b", continue_token="t")
    assert request.path == "/api/v1/pods"
    assert request.query == (("labelSelector", "a=b"), ("limit", "500"), ("continue", "t"))


def test_a_list_without_a_limit_has_no_limit_parameter() -> None:
    request = requests.list_page(
        PODS, limit=None, resource_version="7", resource_version_match="Exact"
    )
    assert request.query == (("resourceVersion", "7"), ("resourceVersionMatch", "Exact"))


def test_a_watch_asks_for_bookmarks() -> None:
    request = requests.watch(PODS, namespace="ns", resource_version="5", timeout_seconds=300)
    assert request.verb == "watch"
    assert request.query == (
        ("watch", "true"),
        ("resourceVersion", "5"),
        ("allowWatchBookmarks", "true"),
        ("timeoutSeconds", "300"),
    )


def test_a_watch_with_initial_events_sends_the_match_that_the_server_insists_on() -> None:
    request = requests.watch(PODS, resource_version="", send_initial_events=True)
    assert ("sendInitialEvents", "true") in request.query
    assert ("resourceVersionMatch", "NotOlderThan") in request.query
    assert ("resourceVersion", "") in request.query


def test_a_watch_without_bookmarks_does_not_mention_them() -> None:
    request = requests.watch(PODS, resource_version="5", allow_bookmarks=False)
    assert "allowWatchBookmarks" not in dict(request.query)


def test_a_create_sends_json() -> None:
    request = requests.create(PODS, namespace="ns", body={"a": 1}, field_manager="lws")
    assert (request.method, request.body, request.content_type) == (
        "POST",
        b'{"a":1}',
        "application/json",
    )
    assert request.query == (("fieldManager", "lws"),)


def test_a_dry_run_is_of_all_stages() -> None:
    assert ("dryRun", "All") in requests.create(PODS, namespace="ns", body={}, dry_run=True).query


def test_a_replace_is_an_update_to_rbac() -> None:
    request = requests.replace(LEASES, namespace="ns", name="l", body={})
    assert (request.method, request.verb) == ("PUT", "update")


@pytest.mark.parametrize("patch_type", PatchType)
def test_each_patch_type_has_its_content_type(patch_type: PatchType) -> None:
    request = requests.patch(PODS, namespace="n", name="p", body=[], patch_type=patch_type)
    assert request.content_type == patch_type.value
    assert request.verb == "patch"


def test_an_apply_names_its_manager_and_says_whether_to_force() -> None:
    request = requests.apply(
        STATEFULSETS, namespace="n", name="s", body={}, field_manager="lws", force=True
    )
    assert request.content_type == "application/apply-patch+yaml"
    assert request.query == (("fieldManager", "lws"), ("force", "true"))


def test_a_plain_delete_has_no_body() -> None:
    request = requests.delete(PODS, namespace="n", name="p")
    assert (request.method, request.body, request.content_type) == ("DELETE", None, None)


def test_preconditions_of_a_delete_stand_in_its_body() -> None:
    request = requests.delete(
        PODS,
        namespace="n",
        name="p",
        uid="u",
        resource_version="9",
        propagation=Propagation.FOREGROUND,
        grace_period_seconds=0,
    )
    assert orjson.loads(request.body or b"") == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "propagationPolicy": "Foreground",
        "gracePeriodSeconds": 0,
        "preconditions": {"uid": "u", "resourceVersion": "9"},
    }


def test_a_dry_delete_says_so_in_its_body() -> None:
    request = requests.delete(PODS, namespace="n", name="p", dry_run=True)
    assert orjson.loads(request.body or b"")["dryRun"] == ["All"]


def test_a_collection_is_deleted_by_selector() -> None:
    request = requests.delete_collection(
        PODS, namespace="n", label_selector="a=b", propagation=Propagation.ORPHAN
    )
    assert request.verb == "deletecollection"
    assert request.query == (("labelSelector", "a=b"),)
    assert orjson.loads(request.body or b"")["propagationPolicy"] == "Orphan"


def test_a_body_is_spelt_as_go_spells_it() -> None:
    words = "a && b 2>&1 <c> \u2028\u2029 ü"
    encoded = requests.encode({"args": [words]})
    assert encoded == (
        '{"args":["a \\u0026\\u0026 b 2\\u003e\\u00261 \\u003cc\\u003e \\u2028\\u2029 ü"]}'.encode()
    )
    assert msgspec.json.decode(encoded) == {"args": [words]}


def test_bytes_are_sent_as_they_are() -> None:
    assert requests.encode(b'{"a" : 1}') == b'{"a" : 1}'


def test_structs_and_raw_json_in_a_body_are_written_as_they_are() -> None:
    body = {"labels": Labels("x"), "template": msgspec.Raw(b'{"spec" : {}}')}
    assert requests.encode(body) == b'{"labels":{"appName":"x"},"template":{"spec" : {}}}'
    assert requests.encode(Labels("x")) == b'{"appName":"x"}'


def test_a_request_can_be_given_another_priority_and_time() -> None:
    request = requests.get(NODES, name="n").at_priority(Priority.LEASE).within(5)
    assert (request.priority, request.timeout_seconds) == (Priority.LEASE, 5)
    assert requests.get(NODES, name="n").priority is Priority.NORMAL


def test_a_path_of_no_resource_is_asked_as_it_is() -> None:
    request = requests.raw_get("/readyz", (("verbose", ""),))
    assert (request.path, request.query) == ("/readyz", (("verbose", ""),))


def test_a_request_reads_as_method_and_path() -> None:
    assert str(requests.get(NODES, name="n")) == "GET /api/v1/nodes/n"

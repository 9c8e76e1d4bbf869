"""StatefulSets as they are read: which keep the whole of their document."""

from lws.api import names
from lws.api.apps import StatefulSet
from tests.unit.planner.leaderworkerset.worlds import as_statefulset, statefulset_document


def a_statefulset(name: str) -> StatefulSet:
    document = statefulset_document()
    document["metadata"] |= {"name": name, "generation": 1}
    document["metadata"]["labels"] |= {names.GROUP_INDEX: "3"}
    return as_statefulset(document)


def test_a_leader_statefulset_keeps_its_document_whatever_labels_its_set_gave_it() -> None:
    assert a_statefulset("vllm").document is not None


def test_a_worker_statefulset_that_nobody_changed_keeps_none() -> None:
    assert a_statefulset("vllm-3").document is None

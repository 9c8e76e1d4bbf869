"""Small questions about objects."""

from typing import Any

from lws.sandbox.server.documents import sharing


def test_what_is_the_same_is_shared_and_what_only_looks_so_is_not() -> None:
    old: dict[str, Any] = {
        "metadata": {"labels": {"a": "b"}, "resourceVersion": "1"},
        "spec": {"a": [1]},
        "status": {"x": 1},
        "gone": {},
    }
    new: dict[str, Any] = {
        "metadata": {"labels": {"a": "b"}, "resourceVersion": "1"},
        "spec": {"a": [1]},
        "status": {"x": True},
        "huge": [2**70],
    }
    made = sharing(new, {**old, "huge": [2**70]})
    assert made == new
    assert made["spec"] is old["spec"]
    assert made["metadata"]["labels"] is old["metadata"]["labels"]
    assert made["status"] is new["status"]
    assert made["status"]["x"] is True
    assert old["status"] == {"x": 1}

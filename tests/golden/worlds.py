"""The worlds of `clusters` as plain objects: by kind, as a real API server returned them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from lws.base.times import parse_time
from lws.client import resources
from lws.client.resources import Resource

Document = dict[str, Any]
World = Mapping[str, list[Document]]
"""By plural name of a kind."""

CLUSTERS = Path(__file__).parent / "clusters"
NAMESPACE = "golden"
_BEGINNING = 1_800_000_000.0
STORED: Mapping[str, Resource] = {
    "disaggregatedsets": resources.DISAGGREGATEDSETS,
    "leaderworkersets": resources.LEADERWORKERSETS,
    "statefulsets": resources.STATEFULSETS,
    "controllerrevisions": resources.CONTROLLERREVISIONS,
    "services": resources.SERVICES,
    "pods": resources.PODS,
}
"""What a world is made of; its events are read for their times alone."""


def items(world: str, kind: str) -> list[Any]:
    """Objects of one kind; kinds that a world has none of have no file."""
    file = CLUSTERS / world / f"{kind}.json"
    return cast(list[Any], json.loads(file.read_text())) if file.exists() else []


def load(world: str) -> World:
    """Everything that is stored."""
    return {kind: items(world, kind) for kind in STORED}


def latest_moment(world: World) -> float:
    """When the last thing happened in it."""
    times = []
    for documents in world.values():
        for document in documents:
            metadata = document["metadata"]
            times.append(parse_time(metadata["creationTimestamp"]))
            times += [parse_time(entry["time"]) for entry in metadata.get("managedFields") or ()]
    return max(times, default=_BEGINNING)

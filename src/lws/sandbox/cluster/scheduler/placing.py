"""A node for one pod, or the words of why there is none."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lws.sandbox.cluster.scheduler.filters import Filter, Refusal
from lws.sandbox.cluster.scheduler.needs import Needs
from lws.sandbox.cluster.scheduler.world import NodeInfo, World


@dataclass(frozen=True, slots=True)
class Unplaced:
    """There is none; `causes` says what has to change."""

    message: str
    causes: frozenset[str]


def place(world: World, needs: Needs) -> str | Unplaced:
    """The node that has the fewest of the pod's siblings, and then the most room."""
    nodes = world.there()
    if not nodes:
        return Unplaced("no nodes available to schedule pods", frozenset(("node",)))
    judge = Filter(world, needs)
    refusals: list[Refusal] = []
    fitting: list[NodeInfo] = []
    for node in nodes:
        refusal = judge.refusal(node)
        if refusal is None:
            fitting.append(node)
        else:
            refusals.append(refusal)
    if fitting:
        return min(fitting, key=lambda node: _cost(node, needs)).name
    causes = frozenset().union(*(one.causes for one in refusals))
    return Unplaced(_message(refusals), causes | {"node"})


def _cost(node: NodeInfo, needs: Needs) -> tuple[int, float, str]:
    shares = (
        node.used[name] / room for name in needs.requests if (room := node.allocatable.get(name))
    )
    return node.owners[needs.owner], max(shares, default=0.0), node.name


def _message(refusals: Sequence[Refusal]) -> str:
    """As the scheduler says it; the last sentence is of preemption, which finds nothing here."""
    total = len(refusals)
    reasons = _histogram(reason for one in refusals for reason in one.reasons)
    helped = "No preemption victims found for incoming pod"
    helpless = "Preemption is not helpful for scheduling"
    victims = _histogram(helped if one.is_resolvable else helpless for one in refusals)
    none = f"0/{total} nodes are available"
    return f"{none}: {reasons}. no new claims to deallocate, preemption: {none}: {victims}."


def _histogram(words: Iterable[str]) -> str:
    return ", ".join(sorted(f"{count} {word}" for word, count in Counter(words).items()))

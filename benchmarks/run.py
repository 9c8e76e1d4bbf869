"""What an operator costs: create, rest, roll and delete of N groups, on a real control plane.

    python -m benchmarks.run --groups 100 --size 4
    python -m benchmarks.run --operator "/path/to/manager"   # gets --config FILE and KUBECONFIG

Wall time is from the user's write to the state that was asked for; CPU is the operator's own,
user and system; requests are counted in the API server's audit log, for the operator's user only.
"""

import argparse
import json
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from harness.audit import WRITES, Count
from harness.controlplane import ControlPlane
from harness.kwok import READY_AFTER
from harness.operator import Operator
from harness.plane import OPERATOR

NAMESPACE = "bench"
NAME = "bench"


@dataclass
class Phase:
    """One row of the answer."""

    name: str
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    rss_mb: float = 0.0
    peak_mb: float = 0.0
    requests: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def events(self) -> int:
        """Writes of events."""
        return sum(n for (verb, kind), n in self.requests.items() if _is_event(verb, kind))

    @property
    def writes(self) -> int:
        """Writes of anything else, the lease left out."""
        return sum(n for (verb, kind), n in self.requests.items() if _is_write(verb, kind))

    @property
    def reads(self) -> int:
        """Gets, lists and watches begun."""
        return sum(n for (verb, _), n in self.requests.items() if verb not in WRITES)


def _is_event(verb: str, kind: str) -> bool:
    return verb in WRITES and kind == "events"


def _is_write(verb: str, kind: str) -> bool:
    return verb in WRITES and kind not in ("events", "leases")


class Bench:
    """A control plane and an operator, and the phases measured on them."""

    def __init__(
        self, plane: ControlPlane, operator: Operator, options: argparse.Namespace
    ) -> None:
        self.plane, self.operator, self.options = plane, operator, options
        self.phases: list[Phase] = []

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Measure a block."""
        phase = Phase(name)
        cpu, start = self.operator.cpu_seconds(), time.monotonic()
        with self.plane.audit.counting(user=OPERATOR) as count:
            yield
            phase.seconds = time.monotonic() - start
            time.sleep(self.options.settle)
        phase.cpu_seconds = self.operator.cpu_seconds() - cpu
        phase.rss_mb = self.operator.memory_bytes() / 1e6
        phase.peak_mb = self.operator.memory_bytes(peak=True) / 1e6
        phase.requests = _requests(count)
        self.phases.append(phase)

    def create(self) -> None:
        """All groups from nothing."""
        self.plane.kube.create(manifest(self.options, image="example.com/serve:1"))
        self._wait(lambda status: status.get("readyReplicas") == self.options.groups)

    def roll(self) -> None:
        """Every group to another image."""
        template = manifest(self.options, image="example.com/serve:2")["spec"]
        change = {"spec": {"leaderWorkerTemplate": template["leaderWorkerTemplate"]}}
        self.plane.kube.patch("leaderworkersets", NAME, change, NAMESPACE)
        groups = self.options.groups
        self._wait(
            lambda status: (
                status.get("updatedReplicas") == groups
                and status.get("readyReplicas") == groups
                and status.get("replicas") == groups
                and _is_available(status)
            )
        )

    def delete(self) -> None:
        """All gone, pods too."""
        self.plane.kube.delete("leaderworkersets", NAME, NAMESPACE, propagation="Background")
        while self.plane.kube.items("pods", NAMESPACE):
            time.sleep(0.5)

    def _wait(self, done: Callable[[dict[str, Any]], bool]) -> None:
        deadline = time.monotonic() + self.options.limit
        while time.monotonic() < deadline:
            lws = self.plane.kube.get("leaderworkersets", NAME, NAMESPACE)
            status = lws.get("status", {})
            if status.get("observedGeneration") == lws["metadata"]["generation"] and done(status):
                return
            time.sleep(0.25)
        raise TimeoutError(f"not reached in {self.options.limit} s: {json.dumps(status)}")


def _is_available(status: dict[str, Any]) -> bool:
    return any(
        one["type"] == "Available" and one["status"] == "True" for one in status["conditions"]
    )


def _requests(count: Count) -> Counter[tuple[str, str]]:
    return Counter(count.by_kind())


def manifest(options: argparse.Namespace, *, image: str) -> dict[str, Any]:
    """The LeaderWorkerSet that is measured."""
    pod: dict[str, Any] = {
        "metadata": {"labels": {"app": "bench"}},
        "spec": {
            "terminationGracePeriodSeconds": 0,
            "containers": [
                {"name": "serve", "image": image, "resources": {"requests": {"cpu": "10m"}}}
            ],
        },
    }
    if options.ready_after:
        pod["metadata"]["annotations"] = {READY_AFTER: options.ready_after}
    budgets = {"maxUnavailable": options.max_unavailable, "maxSurge": options.max_surge}
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": NAME, "namespace": NAMESPACE},
        "spec": {
            "replicas": options.groups,
            "rolloutStrategy": {
                "type": "RollingUpdate",
                "rollingUpdateConfiguration": budgets,
            },
            "leaderWorkerTemplate": {"size": options.size, "workerTemplate": pod},
        },
    }


def others(plane: ControlPlane, count: int) -> None:
    """Pods that are not ours, which should cost an operator nothing."""
    plane.kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "others"}})
    for number in range(count):
        plane.kube.create(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": f"other-{number}", "namespace": "others"},
                "spec": {"containers": [{"name": "c", "image": "example.com/other"}]},
            }
        )


def arguments() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--groups", type=int, default=100)
    parser.add_argument("--size", type=int, default=4)
    parser.add_argument("--max-unavailable", type=_budget, default="10%")
    parser.add_argument("--max-surge", type=_budget, default=0)
    parser.add_argument("--gate", choices=["on", "off"], default="off")
    parser.add_argument("--ready-after", default="", help="start-up time of a pod, such as 2s")
    parser.add_argument("--others", type=int, default=0, help="pods that are not ours")
    parser.add_argument("--rest", type=float, default=30, help="seconds to watch at rest")
    parser.add_argument("--settle", type=float, default=3, help="seconds after each phase")
    parser.add_argument("--limit", type=float, default=1200, help="seconds for one phase")
    parser.add_argument("--operator", default="", help="another operator's command")
    parser.add_argument("--details", action="store_true", help="requests by verb and resource")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def _budget(text: str) -> int | str:
    return int(text) if text.isdigit() else text


def report(phases: list[Phase], *, details: bool) -> str:
    """A table, and for whoever wants it the requests."""
    lines = [
        (
            f"{'phase':8} {'wall s':>8} {'cpu s':>7} {'rss MB':>7} {'peak':>7}"
            f" {'writes':>7} {'events':>7} {'reads':>6}"
        )
    ]
    for one in phases:
        lines.append(
            f"{one.name:8} {one.seconds:8.1f} {one.cpu_seconds:7.2f} {one.rss_mb:7.1f}"
            f" {one.peak_mb:7.1f} {one.writes:7d} {one.events:7d} {one.reads:6d}"
        )
        rows = sorted(one.requests.items(), key=lambda row: -row[1]) if details else []
        lines += [f"    {count:6d} {verb:<8} {kind}" for (verb, kind), count in rows]
    return "\n".join(lines)


def measure(options: argparse.Namespace) -> list[Phase]:
    """Start everything, run the phases, stop everything."""
    nodes = max(8, options.groups * options.size // 50)
    gate = options.gate == "on"
    command = shlex.split(options.operator) or None
    with ControlPlane(
        nodes=nodes, max_unavailable_gate=gate, is_operator_ours=command is None
    ) as plane:
        plane.kube.create(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
        )
        with Operator(plane, command=command) as operator:
            bench = Bench(plane, operator, options)
            if options.others:
                with bench.phase("others"):
                    others(plane, options.others)
            with bench.phase("create"):
                bench.create()
            with bench.phase("rest"):
                time.sleep(options.rest)
            with bench.phase("roll"):
                bench.roll()
            with bench.phase("delete"):
                bench.delete()
            return bench.phases


def main() -> None:
    """Measure and print."""
    options = arguments()
    phases = measure(options)
    if options.json:
        rows = [
            {
                "phase": one.name,
                "seconds": round(one.seconds, 2),
                "cpuSeconds": round(one.cpu_seconds, 2),
                "rssMB": round(one.rss_mb, 1),
                "writes": one.writes,
                "events": one.events,
                "reads": one.reads,
            }
            for one in phases
        ]
        print(json.dumps(rows, indent=2))
        return
    print(f"{options.groups} groups of {options.size}, gate {options.gate}")
    print(report(phases, details=options.details))


if __name__ == "__main__":
    main()

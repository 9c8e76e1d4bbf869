"""What a DisaggregatedSet costs: create, rest, roll, one event and delete, on a real control plane.

    python -m benchmarks.run_disaggregatedset --slices 10 --groups 2 --size 2
    python -m benchmarks.run_disaggregatedset --slices 100 --groups 1 --size 1 --no-roll
    python -m benchmarks.run_disaggregatedset --operator "/path/to/manager"

Wall time is from the user's write to the state that was asked for; CPU is the operator's own, user
and system; requests are counted in the API server's audit log, for the operator's user only. The
phase `event` is a pod of one slice that gets unready and ready again, `--events` times.
"""

import argparse
import json
import shlex
import time
from collections.abc import Callable
from typing import Any

from benchmarks.run import NAME, NAMESPACE, Bench, report
from harness import pods
from harness.controlplane import ControlPlane
from harness.kube import Json
from harness.kwok import READY_AFTER
from harness.operator import Operator

ROLES = ("prefill", "decode")


class DisaggregatedBench(Bench):
    """The phases of a DisaggregatedSet."""

    def create(self) -> None:
        """All slices from nothing."""
        self.plane.kube.create(manifest(self.options, image="example.com/serve:1"))
        self._wait(self._is_complete)

    def roll(self) -> None:
        """Every role of every slice to another image."""
        spec = manifest(self.options, image="example.com/serve:2")["spec"]
        self.plane.kube.patch("disaggregatedsets", NAME, {"spec": spec}, NAMESPACE)
        self._wait(self._is_complete)

    def events(self) -> None:
        """A blip of one pod, again and again: it concerns one slice only."""
        for number in range(self.options.events):
            name = self._leader()
            pods.set_ready(self.plane.kube, NAMESPACE, name, number % 2 == 1)
            time.sleep(0.3)

    def delete(self) -> None:
        """All gone, pods too."""
        self.plane.kube.delete("disaggregatedsets", NAME, NAMESPACE, propagation="Background")
        while self.plane.kube.items("pods", NAMESPACE):
            time.sleep(0.5)

    def _leader(self) -> str:
        selector = (
            "disaggregatedset.x-k8s.io/slice=0,disaggregatedset.x-k8s.io/role=prefill,"
            "leaderworkerset.sigs.k8s.io/worker-index=0"
        )
        found = self.plane.kube.items("pods", NAMESPACE, selector=selector)
        return str(min(pod["metadata"]["name"] for pod in found))

    def _is_complete(self, status: Json) -> bool:
        wanted = self.options.groups * self.options.slices
        rows = status.get("roleStatuses", [])
        states = {one["type"]: one["status"] for one in status.get("conditions", [])}
        return (
            len(rows) == len(ROLES)
            and states.get("Available") == "True"
            and all(
                row["replicas"] == row["readyReplicas"] == row["updatedReplicas"] == wanted
                for row in rows
            )
        )

    def _wait(self, done: Callable[[Json], bool]) -> None:
        deadline = time.monotonic() + self.options.limit
        while time.monotonic() < deadline:
            ds = self.plane.kube.get("disaggregatedsets", NAME, NAMESPACE)
            status = ds.get("status", {})
            if status.get("observedGeneration") == ds["metadata"]["generation"] and done(status):
                return
            time.sleep(0.25)
        raise TimeoutError(f"not reached in {self.options.limit} s: {json.dumps(status)}")


def manifest(options: argparse.Namespace, *, image: str) -> Json:
    """The DisaggregatedSet that is measured."""
    return {
        "apiVersion": "disaggregatedset.x-k8s.io/v1",
        "kind": "DisaggregatedSet",
        "metadata": {"name": NAME, "namespace": NAMESPACE},
        "spec": {
            "slices": options.slices,
            "roles": [_role(options, name=name, image=image) for name in ROLES],
        },
    }


def _role(options: argparse.Namespace, *, name: str, image: str) -> Json:
    pod: Json = {
        "spec": {
            "terminationGracePeriodSeconds": 0,
            "containers": [
                {"name": "serve", "image": image, "resources": {"requests": {"cpu": "10m"}}}
            ],
        }
    }
    if options.ready_after:
        pod["metadata"] = {"annotations": {READY_AFTER: options.ready_after}}
    budgets: dict[str, Any] = {"maxUnavailable": 0, "maxSurge": options.max_surge}
    return {
        "name": name,
        "spec": {
            "replicas": options.groups,
            "rolloutStrategy": {"type": "RollingUpdate", "rollingUpdateConfiguration": budgets},
            "leaderWorkerTemplate": {"size": options.size, "workerTemplate": pod},
        },
    }


def arguments() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--slices", type=int, default=10)
    parser.add_argument("--groups", type=int, default=2, help="groups of a role in a slice")
    parser.add_argument("--size", type=int, default=2)
    parser.add_argument("--max-surge", type=int, default=1)
    parser.add_argument("--ready-after", default="", help="start-up time of a pod, such as 2s")
    parser.add_argument("--rest", type=float, default=30, help="seconds to watch at rest")
    parser.add_argument("--settle", type=float, default=3, help="seconds after each phase")
    parser.add_argument("--events", type=int, default=20, help="changes of one pod, one by one")
    parser.add_argument("--limit", type=float, default=1200, help="seconds for one phase")
    parser.add_argument("--no-roll", action="store_true", help="leave the update out")
    parser.add_argument("--operator", default="", help="another operator's command")
    parser.add_argument("--details", action="store_true", help="requests by verb and resource")
    return parser.parse_args()


def measure(options: argparse.Namespace) -> DisaggregatedBench:
    """Start everything, run the phases, stop everything."""
    count = options.slices * len(ROLES) * options.groups * options.size
    command = shlex.split(options.operator) or None
    with ControlPlane(
        nodes=max(8, count // 50), max_unavailable_gate=False, is_operator_ours=command is None
    ) as plane:
        plane.kube.create(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
        )
        with Operator(plane, command=command) as operator:
            bench = DisaggregatedBench(plane, operator, options)
            with bench.phase("create"):
                bench.create()
            with bench.phase("rest"):
                time.sleep(options.rest)
            if options.events:
                with bench.phase("event"):
                    bench.events()
            if not options.no_roll:
                with bench.phase("roll"):
                    bench.roll()
            with bench.phase("restart"):
                operator.restart()
                time.sleep(options.settle)
            with bench.phase("delete"):
                bench.delete()
            return bench


def main() -> None:
    """Measure and print."""
    options = arguments()
    bench = measure(options)
    print(f"{options.slices} slices x {len(ROLES)} roles x {options.groups} groups", end=" ")
    print(f"of {options.size}, maxSurge {options.max_surge}")
    print(report(bench.phases, details=options.details))


if __name__ == "__main__":
    main()

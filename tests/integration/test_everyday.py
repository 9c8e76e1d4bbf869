"""What a person does every day, typed at a sandbox: look, undo, pause, restart."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from harness.waiting import eventually
from lws.api import names
from lws.cli import main
from tests.integration.test_up import EXAMPLE, Up, up

pytestmark = pytest.mark.timeout(300)
GPU = "/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/resources/limits"
TOO_MANY = [{"op": "add", "path": f"{GPU}/nvidia.com~1gpu", "value": "999"}]


class Typed:
    """`lws …` with the sandbox's kubeconfig."""

    def __init__(self, sandbox: Up) -> None:
        self.sandbox = sandbox
        written = json.loads(sandbox.running.read_text(encoding="utf-8"))
        self.environment = {**os.environ, "KUBECONFIG": written["kubeconfig"]}

    def __call__(self, *words: str, code: int = 0) -> str:
        """In this process, which saves a second each time."""
        done = CliRunner().invoke(main, words, env=self.environment)
        assert done.exit_code == code, f"{words}\n{done.stdout}\n{done.stderr}"
        return done.stdout if code != 2 else done.stderr

    def json(self, *words: str, code: int = 0) -> Any:
        return json.loads(self(*words, "-o", "json", code=code))

    def wait(self) -> None:
        self("status", "vllm", "--watch", "--timeout", "90")


@pytest.fixture(scope="module")
def lws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Typed]:
    folder = tmp_path_factory.mktemp("state")
    with up(folder, "--apply", str(EXAMPLE), "--no-view") as sandbox:
        typed = Typed(sandbox)
        eventually(lambda: "vllm" in typed("get"), timeout=60, what="the example is applied")
        typed.wait()
        yield typed


def uids(lws: Typed) -> dict[str, str]:
    """Pods and who they are."""
    pods = json.loads(lws.sandbox.kubectl("get", "pods", "-o", "json"))["items"]
    return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in pods}


def test_a_set_is_listed_and_shown_group_by_group(lws: Typed) -> None:
    (row,) = lws("get").splitlines()[1:]
    assert row.split()[:4] == ["vllm", "2/2", "2", "available"]
    tree = lws("tree", "lws/vllm", "-o", "wide")
    assert sum(line.count("node-") for line in tree.splitlines()) == 6
    assert [group["problems"] for group in lws.json("tree", "vllm")["groups"]] == [[], []]
    assert lws.json("get", "vllm")["kind"] == "LeaderWorkerSet"


def test_a_broken_update_is_explained_and_undone(lws: Typed) -> None:
    before = lws.json("tree", "vllm")["revision"]
    lws.sandbox.kubectl("patch", "lws", "vllm", "--type=json", "-p", json.dumps(TOO_MANY))
    told = "workers 1, 2 pending, 0/10 nodes have nvidia.com/gpu to spare"
    eventually(lambda: told in lws("status", "vllm", code=1), timeout=60, what="the reason is told")
    newest, oldest = lws.json("history", "vllm")
    assert (newest["state"], oldest["key"]) == ("wanted", before)
    assert any("[vllm-worker].resources.limits.nvidia.com/gpu" in one for one in newest["changes"])
    assert "would go back" in lws("undo", "vllm", "--dry-run")
    assert "nvidia.com/gpu: 999 → 8" in lws("undo", "vllm", "--to", before[:6])
    lws.wait()
    assert lws.json("tree", "vllm")["revision"] == before
    assert "already" in lws("undo", "vllm", "--to", before)


def test_a_diff_says_what_an_apply_would_change_and_changes_nothing(
    lws: Typed, tmp_path: Path
) -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    assert lws("diff", "-f", str(EXAMPLE)) == "LeaderWorkerSet default/vllm: no difference\n"
    before = lws.json("tree", "vllm")["revision"]
    same, other = tmp_path / "same.yaml", tmp_path / "other.yaml"
    same.write_text(text.replace('nvidia.com/gpu: "8"', "nvidia.com/gpu: 8"), encoding="utf-8")
    other.write_text(text.replace(":v0.9.1", ":v0.9.2"), encoding="utf-8")
    assert same.read_text() != text != other.read_text()
    (effect,) = {one["effect"] for one in lws.json("diff", "-f", str(same), code=1)["fields"]}
    assert effect == "means the same"
    told = lws("diff", "-f", str(other), code=1)
    assert f"(now {before})" in told
    assert "groups 0, 1 would be made anew" in told
    assert "runs revision" in lws("diff", "vllm")
    assert lws.json("tree", "vllm")["revision"] == before
    lws.sandbox.kubectl("apply", "-f", str(other))
    lws.wait()
    foretold = told.partition("new revision ")[2].split()[0]
    assert lws.json("tree", "vllm")["revision"] == foretold, "the operator judges likewise"
    assert f"back to recorded revision {before}" in lws("diff", "-f", str(EXAMPLE), code=1)
    lws.sandbox.kubectl("apply", "-f", str(EXAMPLE))
    lws.wait()
    assert "--from-revision: no revision has key" in lws(
        "diff", "vllm", "--from-revision", "zz", code=2
    )
    lws("diff", "nothing", code=3)


def test_pause_and_resume_say_what_is(lws: Typed) -> None:
    paused = ("get", "lws", "vllm", "-o", "jsonpath={.spec.paused}")
    assert lws("pause", "vllm") == "vllm is paused\n"
    assert lws("pause", "vllm") == "vllm is paused already\n"
    assert lws.sandbox.kubectl(*paused) == "true"
    assert lws("resume", "vllm") == "vllm is not paused\n"
    assert lws.sandbox.kubectl(*paused) == ""


def test_the_logs_of_a_group_come_side_by_side_as_kubectl_has_them(lws: Typed) -> None:
    lines = lws("logs", "vllm", "--group", "1", "--timestamps").splitlines()
    assert {line.partition(" ")[0] for line in lines} == {"vllm-1", "vllm-1-1", "vllm-1-2"}
    times = [line.split()[2] for line in lines]
    assert times == sorted(times)
    mine = [line.partition("| ")[2] for line in lines if line.startswith("vllm-1-1 ")]
    assert mine == lws.sandbox.kubectl("logs", "vllm-1-1", "--timestamps").splitlines()
    assert any("LWS_WORKER_INDEX=1" in line for line in mine)


def test_followed_logs_go_on_through_a_restart_until_ctrl_c(lws: Typed) -> None:
    words = [sys.executable, "-m", "lws", "logs", "vllm", "-g", "0", "-f", "-o", "json"]
    pipe, before = subprocess.PIPE, uids(lws)["vllm-0"]
    with subprocess.Popen(
        words, env=lws.environment, stdout=pipe, stderr=pipe, text=True
    ) as following:
        assert following.stdout is not None
        first = json.loads(following.stdout.readline())
        assert first["pod"].startswith("vllm-0")
        lws("restart", "vllm", "--group", "0")
        heard = [first]
        while sum(one["line"] == "sandbox: the pod is ready" for one in heard) < 6:
            heard.append(json.loads(following.stdout.readline()))
        following.send_signal(signal.SIGINT)
        _, said = following.communicate(timeout=20)
    assert following.returncode == 130
    assert "Traceback" not in said
    assert "vllm-0: is another pod now" in said
    assert uids(lws)["vllm-0"] != before
    lws.wait()


def test_a_restarted_group_is_made_anew_and_the_others_stay(lws: Typed) -> None:
    before = uids(lws)
    assert lws("restart", "vllm", "--group", "1") == "group 1 is made anew\n"

    def is_new() -> bool:
        after = uids(lws)
        new = {name for name, uid in after.items() if before.get(name) != uid}
        return new == {"vllm-1", "vllm-1-1", "vllm-1-2"} and after.keys() == before.keys()

    eventually(is_new, timeout=60, what="group 1, and only it, is made anew")
    lws.wait()


def small(name: str, pod: dict[str, Any], *, replicas: int = 1, **metadata: Any) -> dict[str, Any]:
    """A set of groups of one pod."""
    containers = [{"name": "main", "image": "some/image"}]
    template = {"size": 1, "workerTemplate": {"spec": {"containers": containers, **pod}}}
    return {
        "apiVersion": names.API_VERSION,
        "kind": names.KIND,
        "metadata": {"name": name, **metadata},
        "spec": {"replicas": replicas, "leaderWorkerTemplate": template},
    }


def test_why_a_group_is_not_ready_is_told_in_plain_words(lws: Typed, tmp_path: Path) -> None:
    claim = {"persistentVolumeClaim": {"claimName": "models"}}
    lonely = {names.EXCLUSIVE_TOPOLOGY: "kubernetes.io/hostname"}
    too_many = small("x", {})["spec"]
    container = too_many["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]
    container["resources"] = {"limits": {"nvidia.com/gpu": "1000"}}
    roles = [{"name": "fine", "spec": small("x", {})["spec"]}, {"name": "big", "spec": too_many}]
    chat = {
        "apiVersion": names.DS_API_VERSION,
        "kind": names.DS_KIND,
        "metadata": {"name": "chat"},
        "spec": {"roles": roles},
    }
    sets = [
        small("claims", {"volumes": [{"name": "models", **claim}]}),
        small("lonely", {}, replicas=11, annotations=lonely),
        chat,
    ]
    file = tmp_path / "sets.yaml"
    file.write_text(yaml.safe_dump_all(sets), encoding="utf-8")
    lws.sandbox.kubectl("apply", "-f", str(file))
    for name, told in (
        ("claims", "group 0: leader pending, its volume claim models is not there"),
        ("lonely", "are taken by other groups (exclusive placement by kubernetes.io/hostname)"),
        ("ds/chat", "big group 0: leader pending, 0/10 nodes have nvidia.com/gpu to spare"),
    ):
        eventually(lambda: told in lws("status", name, code=1), timeout=60, what=told)  # noqa: B023
    eventually(lambda: "fine 1/1, big 0/1" in lws("get", "chat"), timeout=60, what="fine is ready")
    assert "big group 0: leader pending, 0/10 nodes have" in lws("get", "chat")
    assert "fine: 1/1 groups ready" in lws("tree", "chat")
    assert "fine-0 | sandbox: the pod is ready" in lws("logs", "chat", "--role", "fine")
    lws.sandbox.kubectl("delete", "-f", str(file))


def test_what_is_wrong_is_told_with_its_exit_code(lws: Typed) -> None:
    lws("status", "nothing", code=1)
    lws("status", "ds/chat", code=1)
    assert "such as vllm, lws/vllm or ds/chat" in lws("status", "sts/chat", code=2)
    assert "such as vllm or lws/vllm" in lws("pause", "ds/chat", code=2)
    assert "there are: 0, 1" in lws("restart", "vllm", "--group", "9", code=2)
    assert "no revision has key 'zzz'" in lws("undo", "vllm", "--to", "zzz", code=2)
    assert "no context 'elsewhere'" in lws("tree", "vllm", "--context", "elsewhere", code=2)

"""`lws up` and `lws down`: a cluster on this machine, in memory."""

import asyncio
import contextlib
import gc
import json
import os
import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lws.base.errors import InvalidInput
from lws.cli.extras import require_sandbox
from lws.cli.numbers import Seconds
from lws.cli.problems import EXIT_USAGE, reason_of, tell
from lws.runtime.clock import RealClock

if TYPE_CHECKING:
    from lws.manager.up import LocalControlPlane
    from lws.runtime.process import Process

DOWN_SECONDS = 10.0


def _state_folder() -> Path:
    """Where the running sandbox is written down."""
    home = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(home) / "lws"


@click.command("up", context_settings={"max_content_width": 100})
@click.option(
    "--nodes", type=click.IntRange(1, 10_000), default=10, show_default=True, help="How many."
)
@click.option(
    "--topology", default="zone=2", show_default=True, help="Node labels and their domains."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="0: any that is free.")
@click.option("--data", metavar="FILE", help="Keep the state in this file.")
@click.option("--audit-log", metavar="FILE", help="Write down who asks for what.")
@click.option("--apply", "apply_files", multiple=True, metavar="FILE", help="Manifests to apply.")
@click.option("--kubeconfig", metavar="FILE", help="Where to write it; else in the state folder.")
@click.option(
    "--ready-after",
    type=Seconds(min=0),
    default=1.0,
    show_default=True,
    help="Seconds of a pod.",
)
@click.option("--max-unavailable-gate", is_flag=True, help="StatefulSets take several at a time.")
@click.option(
    "--log-level",
    default="error",
    show_default=True,
    metavar="LEVEL",
    help="debug, info, error or 0-5.",
)
@click.option("--operator/--no-operator", default=True, help="Run the operator on it.")
@click.option("--view/--no-view", default=True, help="Show the groups as they change.")
def up(
    *,
    topology: str,
    data: str | None,
    audit_log: str | None,
    apply_files: tuple[str, ...],
    kubeconfig: str | None,
    log_level: str,
    view: bool,
    **more: Any,
) -> None:
    """Run an API server, a cluster and the operator on this machine, in memory.

    The real kubectl works on it. Ctrl-C, or `lws down`, stops it.
    """
    require_sandbox()
    running = running_pid(_state_folder() / "running.json")
    if running is not None:
        tell(f"a sandbox is running already, process {running}", hint="stop it with: lws down")
        sys.exit(1)
    try:
        manifests = [document for file in apply_files for document in _manifests(file)]
        gc.disable()  # what is loaded now stays; `run_up` switches it on again
        from lws.manager.up.options import UpOptions, topology_of
        from lws.manager.up.run import run_up  # loads the sandbox only when it is wanted
        from lws.runtime.logs import level_of

        level_of(log_level, option="--log-level")
        options = UpOptions(
            topology=topology_of(topology),
            data=None if data is None else Path(data),
            audit_log=None if audit_log is None else Path(audit_log),
            **more,
        )
        target = Path(kubeconfig) if kubeconfig else _state_folder() / "kubeconfig"
        code = run_up(
            options,
            kubeconfig=target,
            manifests=manifests,
            log_level=log_level,
            show=lambda plane, process: _show(
                plane, process, target=target, view=view, operator=options.operator
            ),
        )
    except InvalidInput as error:
        tell(str(error))
        code = EXIT_USAGE
    finally:
        gc.enable()
        _forget_running(_state_folder() / "running.json")
    sys.exit(code)


def _show(
    plane: "LocalControlPlane", process: "Process", *, target: Path, view: bool, operator: bool
) -> None:
    """What to type next, then the groups as they change."""
    from lws.cli.view import watch_groups

    state = _state_folder()
    state.mkdir(parents=True, exist_ok=True)
    written = {"pid": os.getpid(), "url": plane.url, "kubeconfig": str(target.absolute())}
    (state / "running.json").write_text(json.dumps(written), encoding="utf-8")
    head = _words_of(plane.url, target, operator=operator)
    click.echo("\n".join(head))
    if view:
        process.spawn("view", watch_groups(plane, head))


def _words_of(url: str, kubeconfig: Path, *, operator: bool) -> list[str]:
    """What runs, and what to type next."""
    runs = "the operator runs" if operator else "no operator runs on it"
    example = Path("examples/vllm/leaderworkerset.yaml")
    return [
        f"The API server is at {url}, {runs}",
        "In another terminal:",
        f"  export KUBECONFIG={shlex.quote(str(kubeconfig.absolute()))}",
        f"  kubectl apply -f {example if example.exists() else 'FILE'}",
        "  kubectl get lws,pods -w",
        "  lws chaos container POD    # and see it come back",
        "Ctrl-C, or lws down, stops it",
    ]


def _manifests(file: str) -> list[dict[str, Any]]:
    from lws.cli.documents import documents_of  # not every start reads manifests

    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            field=f"--apply {file}", message=f"cannot be read: {reason_of(error)}"
        ) from error
    documents = documents_of(text, field=f"--apply {file}")
    for document in documents:
        named = isinstance(document, dict) and isinstance(document.get("metadata"), dict)
        if not named or not document["metadata"].get("name"):
            raise InvalidInput(field=f"--apply {file}", message="holds something without a name")
    return documents


def running_pid(file: Path) -> int | None:
    """The process that wrote this file, if it lives; None if its number is another's by now."""
    try:
        pid = int(json.loads(file.read_text(encoding="utf-8"))["pid"])
        os.kill(pid, 0)
        command = Path(f"/proc/{pid}/cmdline")
        is_ours = not command.exists() or b"lws" in command.read_bytes()
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return pid if is_ours else None


def _forget_running(file: Path) -> None:
    """Unless it is another's, who was quicker."""
    if running_pid(file) in (None, os.getpid()):
        file.unlink(missing_ok=True)


def running_kubeconfig() -> str | None:
    """The kubeconfig of the sandbox that runs, if one does."""
    file = _state_folder() / "running.json"
    if running_pid(file) is None:
        return None
    return str(json.loads(file.read_text(encoding="utf-8"))["kubeconfig"])


@click.command("down")
def down() -> None:
    """Stop the sandbox that `lws up` runs."""
    file = _state_folder() / "running.json"
    pid = running_pid(file)
    if pid is None:
        file.unlink(missing_ok=True)
        tell("no sandbox is running", hint="start one with: lws up")
        sys.exit(1)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    if asyncio.run(_is_gone(file)):
        click.echo("stopped")
        return
    tell(f"process {pid} has not stopped within {DOWN_SECONDS:.0f} s")
    sys.exit(1)


async def _is_gone(file: Path) -> bool:
    """Whether the sandbox takes its file away in time."""
    clock = RealClock()
    until = clock.monotonic() + DOWN_SECONDS
    while await asyncio.to_thread(file.exists):
        if clock.monotonic() > until:
            return False
        await clock.sleep(0.05)
    return True

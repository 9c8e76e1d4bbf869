"""`lws chaos`: trouble in the sandbox of `lws up`, over the API that docs/sandbox.md describes."""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from lws.api import names
from lws.base.errors import InvalidInput, LwsError
from lws.cli.everyday.cluster import Cluster, what_to_do
from lws.cli.numbers import Seconds
from lws.cli.problems import EXIT_USAGE, tell
from lws.cli.up import running_kubeconfig
from lws.client import errors, requests, resources

if TYPE_CHECKING:
    from lws.client.kubernetes import KubernetesClient

Json = Mapping[str, Any]

_kubeconfig = click.option(
    "--kubeconfig", metavar="FILE", help="Else that of the running lws up, or $KUBECONFIG."
)
_namespace = click.option("--namespace", "-n", metavar="NAME", help="Else the context's namespace.")


class NoSandbox(LwsError):
    """The cluster is a real one, or another tool's."""


@click.group("chaos", context_settings={"max_content_width": 100})
def chaos() -> None:
    """Make trouble in the sandbox that `lws up` runs, and say what to watch.

    A cluster that is no sandbox is left alone.
    """


@chaos.command("container")
@click.argument("pod")
@click.option("--container", "-c", default="", metavar="NAME", help="Else the first one.")
@click.option(
    "--exit-code",
    type=click.IntRange(0, 255),
    default=137,
    show_default=True,
    help="137 is told as OOMKilled, 0 as Completed.",
)
@_namespace
@_kubeconfig
def container_(
    pod: str, container: str, exit_code: int, namespace: str | None, kubeconfig: str | None
) -> None:
    """End a container of a pod."""
    fault = {"fault": "container", "pod": pod, "container": container, "exitCode": exit_code}
    _make(fault, namespace=namespace, kubeconfig=kubeconfig)


@chaos.command("pod")
@click.argument("pod")
@click.option("--evict", is_flag=True, help="Its node is short of memory.")
@click.option("--fail", is_flag=True, help="It fails as a whole, for good.")
@click.option("--delete", is_flag=True, help="Somebody deletes it.")
@click.option("--unready", is_flag=True, help="It runs on, but is not ready.")
@click.option("--ready", is_flag=True, help="It is ready again.")
@_namespace
@_kubeconfig
def pod_(pod: str, namespace: str | None, kubeconfig: str | None, **flags: bool) -> None:
    """Let something befall a pod as a whole."""
    fault = {"fault": "pod", "pod": pod, "how": _the_one("pod", flags)}
    _make(fault, namespace=namespace, kubeconfig=kubeconfig)


@chaos.command("node")
@click.argument("node")
@click.option("--down", is_flag=True, help="Its kubelet is silent.")
@click.option("--up", is_flag=True, help="Its kubelet is back.")
@click.option("--drain", is_flag=True, help="Cordon it and evict its pods.")
@click.option("--cordon", is_flag=True, help="It takes no new pods.")
@click.option("--uncordon", is_flag=True, help="It takes pods again.")
@click.option("--remove", is_flag=True, help="The machine is gone for good.")
@click.option("--taint", metavar="KEY[=VALUE]:EFFECT", help="Such as broken=yes:NoExecute.")
@click.option("--untaint", metavar="KEY[:EFFECT]", help="Take taints of this key away.")
@_kubeconfig
def node_(node: str, kubeconfig: str | None, **flags: bool | str | None) -> None:
    """Let something befall a machine."""
    how = _the_one("node", flags)
    fault: dict[str, Any] = {"fault": "node", "node": node, "how": how}
    text = flags[how]
    if isinstance(text, str):
        fault["taint"] = _taint_of(text) if how == "taint" else _untaint_of(text)
    _make(fault, namespace=None, kubeconfig=kubeconfig)


def _the_one(what: str, flags: Mapping[str, bool | str | None]) -> str:
    """The flag that was given, if it is one."""
    given = [name for name, value in flags.items() if value]
    if len(given) == 1:
        return given[0]
    every = ", ".join(f"--{name}" for name in flags)
    several = f", not {' and '.join(f'--{name}' for name in given)} at once" if given else ""
    tell(f"say what is to befall the {what}{several}", hint=f"one of {every}")
    sys.exit(EXIT_USAGE)


@chaos.command("slow-start")
@click.argument("seconds", type=Seconds(0, 86_400))
@_kubeconfig
def slow_start(seconds: float, kubeconfig: str | None) -> None:
    """Let pods that start from now on take so many seconds to be ready."""
    _make({"fault": "slow-start", "seconds": seconds}, namespace=None, kubeconfig=kubeconfig)


def _taint_of(text: str) -> dict[str, str]:
    pair, colon, effect = text.rpartition(":")
    key, _, value = pair.partition("=")
    if not colon or not key:
        message = f"must be such as broken=yes:NoExecute, not {text!r}"
        raise click.BadParameter(message, param_hint="--taint")
    return {"key": key, "value": value, "effect": _effect_of(effect, "--taint")}


def _untaint_of(text: str) -> dict[str, str]:
    key, colon, effect = text.partition(":")
    return {"key": key, "effect": _effect_of(effect, "--untaint") if colon else ""}


def _effect_of(text: str, flag: str) -> str:
    if text not in EFFECTS:
        message = f"the effect must be {', '.join(EFFECTS[:-1])} or {EFFECTS[-1]}, not {text!r}"
        raise click.BadParameter(message, param_hint=flag)
    return text


EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def _make(fault: dict[str, Any], *, namespace: str | None, kubeconfig: str | None) -> None:
    """Do it, say it; what goes wrong is told and ends the command."""
    file = kubeconfig or running_kubeconfig() or os.environ.get("KUBECONFIG")
    if not file:
        tell("no sandbox is running", hint="start one with: lws up")
        sys.exit(1)
    try:
        _tell_of(*Cluster(namespace, file, None).ask(_asking(fault)))
    except errors.ApiError as error:
        tell(error.message)
        sys.exit(1)
    except errors.TransportError as error:
        tell(str(error), hint="is that sandbox still running? lws up starts one")
        sys.exit(1)
    except NoSandbox as error:
        tell(f"{file}: {error}", hint="chaos is for sandboxes alone; start one with: lws up")
        sys.exit(1)
    except (errors.ClientError, InvalidInput) as error:
        hint = what_to_do(error) if isinstance(error, errors.ClientError) else None
        tell(str(error), hint=hint)
        sys.exit(EXIT_USAGE)


def _asking(fault: dict[str, Any]) -> Callable[..., Any]:
    async def ask(client: "KubernetesClient", namespace: str) -> tuple[Json, Sequence[str]]:
        await _require_sandbox(client)
        if "pod" in fault:
            fault["namespace"] = namespace
        watch = await _what_to_watch(client, fault)
        request = requests.Request(
            "POST",
            "/sandbox/faults",
            body=json.dumps(fault).encode(),
            content_type=requests.JSON,
            verb="create",
            resource="/sandbox/faults",
        )
        return await client.request_object(request), watch

    return ask


async def _require_sandbox(client: "KubernetesClient") -> None:
    try:
        about = await client.request_object(requests.raw_get("/sandbox"))
    except (errors.NotFound, errors.Forbidden) as error:
        raise NoSandbox("that cluster is no sandbox, and nothing was done") from error
    if about.get("kind") != "Sandbox":
        raise NoSandbox("that server is no sandbox, and nothing was done")


async def _what_to_watch(client: "KubernetesClient", fault: Json) -> list[str]:
    """What a person looks at, and what the operator is to make of it."""
    if fault["fault"] == "slow-start":
        return ["watch: kubectl get pods -A -w, after lws restart NAME or kubectl scale"]
    if fault["fault"] == "node":
        return ["watch: kubectl get pods -A -o wide -w"]
    namespace = fault["namespace"]
    pods = await client.list_all(
        resources.PODS,
        namespace=namespace,
        field_selector=f"metadata.name={fault['pod']}",
    )
    labels = pods.items[0]["metadata"].get("labels") or {} if pods.items else {}
    if names.NAME not in labels:
        return [f"watch: kubectl get pod {fault['pod']} -n {namespace} -w"]
    name, index = labels[names.NAME], labels.get(names.GROUP_INDEX, "")
    chosen = f"{names.NAME}={name},{names.GROUP_INDEX}={index}"
    lws = await client.get(resources.LEADERWORKERSETS, namespace=namespace, name=name)
    policy = lws["spec"]["leaderWorkerTemplate"].get("restartPolicy", "")
    return [
        f"then: {_expected(f'group {index} of {name}', policy, fault)}",
        f"watch: kubectl get pods -n {namespace} -w -l {chosen}",
    ]


def _expected(group: str, policy: str, fault: Json) -> str:
    """By the set's restart policy."""
    if fault.get("how") in ("unready", "ready"):
        return f"{group} counts as ready only while all its pods are"
    if policy == "None":
        return f"{group} stays (restartPolicy None); only what failed comes back"
    when = "if all its pods had started" if policy == "RecreateGroupAfterStart" else "once"
    return f"{group} is recreated, {when} (restartPolicy {policy})"


def _tell_of(outcome: Json, watch: Sequence[str]) -> None:
    """What was done on stdout, what follows and what to look at on stderr."""
    for line in outcome["done"]:
        click.echo(line)
    for line in (*(f"then: {one}" for one in outcome["follows"]), *watch):
        click.echo(line, err=True)

"""The way to a cluster: common options, one connection a command, errors that say what to do."""

import asyncio
import functools
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, overload

import click
from click.shell_completion import CompletionItem

from lws.api import names
from lws.base.errors import InvalidInput, LwsError
from lws.cli.everyday.family import Document, Family
from lws.cli.everyday.refused import REASON, refusals_of
from lws.cli.everyday.roles import RoleFamily
from lws.cli.problems import EXIT_USAGE, tell
from lws.client import errors, resources

if TYPE_CHECKING:
    from lws.client.kubernetes import KubernetesClient

T = TypeVar("T")
Ask = Callable[["KubernetesClient", str], Awaitable[T]]
"""Asks a client about a namespace."""


EXIT_INTERRUPTED = 130
"""Ctrl-C, as a shell has it."""


class NoSuchSet(LwsError):
    """The API server knows the kind, and holds none of that name."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Which cluster and namespace were named on the command line; None: as the kubeconfig has."""

    namespace: str | None
    kubeconfig: str | None
    context: str | None

    def ask(self, ask: Ask[T], *, seconds: float | None = None) -> T:
        """Connect, ask, hang up; TimeoutError after so many seconds."""
        from lws.client.kubeconfig import load_config  # these load the HTTP client
        from lws.client.kubernetes import KubernetesClient
        from lws.client.transport import HttpTransport
        from lws.runtime.clock import RealClock

        connection = load_config(
            kubeconfig=self.kubeconfig, context=self.context, environ=os.environ
        )
        namespace = self.namespace or connection.namespace

        async def run() -> T:
            async with (
                asyncio.timeout(seconds),
                HttpTransport(connection, clock=RealClock()) as transport,
            ):
                return await ask(KubernetesClient(transport), namespace)

        return asyncio.run(run())


Command = Callable[..., None]


@overload
def with_cluster(command: Command) -> Command: ...
@overload
def with_cluster(*, trouble: int) -> Callable[[Command], Command]: ...
def with_cluster(command: Command | None = None, *, trouble: int = 1) -> Any:
    """The options that name a cluster, as `cluster`; what goes wrong is told and ends it, with
    the exit code `trouble` where the command line is not to blame."""

    def decorate(command: Command) -> Command:
        @click.option(
            "--namespace",
            "-n",
            metavar="NAME",
            shell_complete=_complete_namespaces,
            help="Else the context's namespace.",
        )
        @click.option(
            "--kubeconfig",
            type=click.Path(),
            metavar="FILE",
            help="Else $KUBECONFIG or ~/.kube/config.",
        )
        @click.option("--context", metavar="NAME", help="Context of the kubeconfig.")
        @functools.wraps(command)
        def wrapped(
            *, namespace: str | None, kubeconfig: str | None, context: str | None, **more: Any
        ) -> None:
            try:
                command(cluster=Cluster(namespace, kubeconfig, context), **more)
            except (LwsError, KeyboardInterrupt) as error:
                sys.exit(_told(error, trouble))

        return wrapped

    return decorate if command is None else decorate(command)


def _complete_namespaces(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    from lws.cli.everyday.live import namespaces  # asks through this module

    return namespaces(context, parameter, incomplete)


def _told(error: LwsError | KeyboardInterrupt, trouble: int) -> int:
    """Say it, and what to do about it; the exit code."""
    match error:
        case KeyboardInterrupt():
            return EXIT_INTERRUPTED
        case InvalidInput():
            tell(str(error))
            return EXIT_USAGE
        case NoSuchSet():
            tell(str(error), hint="lws get -A lists every set")
        case errors.KubeconfigError():
            tell(str(error), hint="name a file with --kubeconfig, or set KUBECONFIG")
            return EXIT_USAGE
        case errors.ClientError():
            tell(str(error), hint=what_to_do(error))
        case _:
            tell(str(error))
    return trouble


_HINTS: tuple[tuple[type[errors.ClientError], str], ...] = (
    (errors.NotFound, "is the kind installed? kubectl apply --server-side -f deploy/crds"),
    (errors.Forbidden, "ask for the right, or see what you may do: kubectl auth can-i --list"),
    (errors.Unauthorized, "log in again, or take another --context"),
    (errors.Conflict, "it has changed meanwhile; look at it again, then repeat the command"),
    (errors.CredentialsError, "log in again, or take another --context"),
    (errors.TransportError, "is the cluster up, and is it the right --context?"),
    (errors.Retryable, "try again in a moment"),
)


def what_to_do(error: errors.ClientError) -> str | None:
    """What a person can do about it, if anything general."""
    return next((hint for kind, hint in _HINTS if isinstance(error, kind)), None)


_KINDS = {
    "lws": "lws",
    "leaderworkerset": "lws",
    "leaderworkersets": "lws",
    "ds": "ds",
    "disaggregatedset": "ds",
    "disaggregatedsets": "ds",
}


@dataclass(frozen=True, slots=True)
class Named:
    """A set as it was typed; `kind` is lws, ds, or empty for whichever there is."""

    kind: str
    name: str

    @property
    def is_disaggregated(self) -> bool:
        """Is it a DisaggregatedSet, for certain?"""
        return self.kind == "ds"

    @classmethod
    def of(cls, document: Document) -> "Named":
        """A set that was found."""
        return cls(_KINDS[document["kind"].lower()], document["metadata"]["name"])


def named(text: str) -> Named:
    """What `vllm`, `lws/vllm` or `ds/chat` names; InvalidInput says what is wrong with it."""
    kind, slash, name = text.rpartition("/")
    if slash and kind not in _KINDS:
        message = f"must be the name of a set, such as vllm, lws/vllm or ds/chat, not {text!r}"
        raise InvalidInput(field="NAME", message=message)
    if not name:
        raise InvalidInput(field="NAME", message="must not be empty")
    return Named(_KINDS.get(kind, ""), name)


def name_of(text: str) -> str:
    """The name in `vllm` or `lws/vllm`; InvalidInput names what is wrong with it."""
    found = named(text)
    if found.is_disaggregated:
        message = f"must be the name of a LeaderWorkerSet, such as vllm or lws/vllm, not {text!r}"
        raise InvalidInput(field="NAME", message=message)
    return found.name


async def lws_of(client: "KubernetesClient", namespace: str, name: str) -> Document:
    """One LeaderWorkerSet; NoSuchSet if there is none of that name."""
    return await set_of(client, namespace, Named("lws", name))


async def set_of(client: "KubernetesClient", namespace: str, wanted: Named) -> Document:
    """A set of either kind; NoSuchSet if there is none of that name."""
    found = await find_set(client, namespace, wanted)
    if found is None:
        kind = {"lws": "LeaderWorkerSet", "ds": "DisaggregatedSet"}.get(wanted.kind)
        what = kind or "LeaderWorkerSet and no DisaggregatedSet"
        raise NoSuchSet(f"namespace {namespace} has no {what} {wanted.name}")
    return found


async def find_set(client: "KubernetesClient", namespace: str, wanted: Named) -> Document | None:
    """A set of either kind, None if there is none of that name; NotFound if no kind is known."""
    if wanted.kind:
        return await _find(client, namespace, _RESOURCES[wanted.kind], wanted.name)
    found = await _find(client, namespace, resources.LEADERWORKERSETS, wanted.name)
    if found is not None:
        return found
    try:
        return await _find(client, namespace, resources.DISAGGREGATEDSETS, wanted.name)
    except (errors.NotFound, errors.Forbidden):  # the kind need not be installed, nor ours to read
        return None


_RESOURCES = {"lws": resources.LEADERWORKERSETS, "ds": resources.DISAGGREGATEDSETS}


async def _find(
    client: "KubernetesClient", namespace: str, resource: resources.Resource, name: str
) -> Document | None:
    try:
        return await client.get(resource, namespace=namespace, name=name)
    except errors.NotFound as error:
        if f'"{name}"' in error.message:  # else it is the kind that is not known
            return None
        raise


async def sets_in(client: "KubernetesClient", namespace: str | None) -> list[Document]:
    """All sets of both kinds, None: of every namespace; a kind that is not there has none."""
    found: list[Document] = []
    missing: list[errors.ClientError] = []
    for resource in _RESOURCES.values():
        try:
            listed = await client.list_all(resource, namespace=namespace)
        except (errors.NotFound, errors.Forbidden) as error:
            missing.append(error)
            continue
        api = {"apiVersion": resource.api_version, "kind": resource.kind}  # lists leave it out
        found += [{**api, **item} for item in listed.items]
    if len(missing) == len(_RESOURCES):
        raise missing[0]
    return found


async def family_of(client: "KubernetesClient", lws: Document) -> Family:
    """A LeaderWorkerSet, its leader StatefulSet if there is one, and its pods."""
    namespace, name = lws["metadata"]["namespace"], lws["metadata"]["name"]
    pods = await client.list_all(
        resources.PODS, namespace=namespace, label_selector=f"{names.NAME}={name}"
    )
    try:
        statefulset = await client.get(resources.STATEFULSETS, namespace=namespace, name=name)
    except errors.NotFound:
        statefulset = None
    return Family(lws=lws, statefulset=statefulset, pods=tuple(pods.items))


async def roles_of(client: "KubernetesClient", ds: Document) -> RoleFamily:
    """A DisaggregatedSet, its LeaderWorkerSets and their pods."""
    metadata = ds["metadata"]
    found = [
        await client.list_all(
            resource,
            namespace=metadata["namespace"],
            label_selector=f"{names.DS_NAME}={metadata['name']}",
        )
        for resource in (resources.LEADERWORKERSETS, resources.PODS)
    ]
    return RoleFamily(ds=ds, sets=tuple(found[0].items), pods=tuple(found[1].items))


async def refusals_in(
    client: "KubernetesClient", sets: Sequence[Document], *, now: float
) -> Mapping[str, str]:
    """Why pods of these LeaderWorkerSets, of one namespace, were not made; see `refused`.

    Whoever may not read events is not told why.
    """
    found: dict[str, str] = {}
    try:
        page = await client.list_all(
            _EVENTS,
            namespace=sets[0]["metadata"]["namespace"],
            field_selector=f"reason={REASON}",
        )
    except errors.Forbidden:
        return found
    for lws in sets:
        found |= refusals_of(lws, page.items, now=now)
    return found


_EVENTS = resources.Resource("", "v1", "events", "Event")
"""Of the core API, whose events have the time of each recorder, old and new."""


async def revisions_of(client: "KubernetesClient", lws: Document) -> list[Document]:
    """The ControllerRevisions that a LeaderWorkerSet owns, active and retired."""
    metadata = lws["metadata"]
    found: dict[str, Document] = {}
    for label in (names.NAME, names.HISTORY_OF):
        page = await client.list_all(
            resources.CONTROLLERREVISIONS,
            namespace=metadata["namespace"],
            label_selector=f"{label}={metadata['name']}",
        )
        found |= {item["metadata"]["uid"]: item for item in page.items}
    return [
        item
        for item in found.values()
        if any(
            owner.get("controller") and owner["uid"] == metadata["uid"]
            for owner in item["metadata"].get("ownerReferences", ())
        )
    ]

"""Webhook configurations that have to do with our kinds. Pure."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lws.api import names
from lws.cli.check.findings import Finding, Severity, Subject, Topic
from lws.webhooks.configuration import MUTATING_NAME, VALIDATING_NAME

Document = Mapping[str, Any]
SERVICE = "lws-webhook-service"
_GROUPS = frozenset({names.GROUP, names.DS_GROUP})
_OUR_NAMES = frozenset({MUTATING_NAME, VALIDATING_NAME})
_INJECTED = "cert-manager.io/inject-ca-from"


@dataclass(frozen=True, slots=True)
class Hook:
    """One webhook that is asked about our kinds or serves an LWS operator."""

    configuration: Subject
    name: str
    service: tuple[str, str] | None
    """Namespace and name; None: an address outside."""
    is_ours: bool
    """Its configuration has the name that ours has."""
    is_operators: bool
    """It leads to an LWS operator, and not to some other program that looks at our kinds too."""
    document: Document
    injected: bool = False
    """Cert-manager is asked to fill in its CA."""

    @property
    def refuses_when_away(self) -> bool:
        """Whether writes fail while nobody answers."""
        return bool(self.document.get("failurePolicy", "Fail") == "Fail")


def hooks_of(configuration: Document, *, kind: str, namespace: str) -> list[Hook]:
    """Of one configuration; `namespace` is the operator's. Empty: it is not about our kinds."""
    metadata = configuration["metadata"]
    about = Subject(kind, name=metadata["name"])
    found = []
    for webhook in configuration.get("webhooks") or ():
        service = (webhook.get("clientConfig") or {}).get("service")
        place = None if service is None else (service["namespace"], service["name"])
        is_ours = metadata["name"] in _OUR_NAMES
        leads_here = place is not None and (place[0] == namespace or place[1].endswith(SERVICE))
        if is_ours or leads_here or _is_asked(webhook):
            found.append(
                Hook(
                    configuration=about,
                    name=webhook["name"],
                    service=place,
                    is_ours=is_ours,
                    is_operators=is_ours or leads_here,
                    document=webhook,
                    injected=_INJECTED in (metadata.get("annotations") or {}),
                )
            )
    return found


def judge_hooks(hooks: Sequence[Hook], *, missing: Collection[tuple[str, str]]) -> list[Finding]:
    """What there is to say of one configuration; `missing` are services that are not there.

    Webhooks of which the same is to be said are named together.
    """
    together: dict[Finding, list[str]] = {}
    for hook in hooks:
        for finding in _judged(hook, is_missing=hook.service in missing):
            together.setdefault(finding, []).append(hook.name)
    return [replace(finding, fields=tuple(named)) for finding, named in together.items()]


def _judged(hook: Hook, *, is_missing: bool) -> Iterator[Finding]:
    if not hook.is_operators:
        message = f"another program's webhook ({_where(hook)}) is asked about our kinds; it goes "
        yield _finding(Severity.INFO, hook, message + "on being asked")
        return
    if not hook.is_ours:
        yield _second_installation(hook)
    if is_missing and hook.refuses_when_away:
        yield _finding(
            Severity.ERROR,
            hook,
            f"leads to service {_where(hook)}, which is not there: every write that it is asked "
            "about is refused",
            hint="install the operator that it belongs to, or delete the configuration",
        )
    if not (hook.document.get("clientConfig") or {}).get("caBundle"):
        yield _without_ca(hook)
    if hook.is_ours and _sees_every_pod(hook.document):
        message = "is asked about every pod of the cluster"
        yield _finding(Severity.INFO, hook, message, hint="ours asks for pods of our label only")


def _second_installation(hook: Hook) -> Finding:
    refuses = hook.refuses_when_away
    then = "; when its manager stops, every such write is refused" if refuses else ""
    verb = hook.configuration.kind.lower()
    return _finding(
        Severity.ERROR if refuses else Severity.WARNING,
        hook,
        f"an LWS operator's webhook under another name ({_where(hook)}) is asked beside ours{then}",
        hint=f"once that manager has stopped: kubectl delete {verb} {hook.configuration.name}",
    )


def _without_ca(hook: Hook) -> Finding:
    hint = "the operator that it belongs to fills it in once it runs"
    if hook.injected:
        hint = "cert-manager is to fill it in: see whether its cainjector runs"
    message = "has no caBundle, so the API server cannot trust its answer"
    return _finding(Severity.ERROR, hook, message, hint=hint)


def _is_asked(webhook: Document) -> bool:
    """By name of our groups: policies for everything (`*`) are not about us."""
    return any(_GROUPS & set(rule.get("apiGroups") or ()) for rule in webhook.get("rules") or ())


def _sees_every_pod(webhook: Document) -> bool:
    asks = any("pods" in (rule.get("resources") or ()) for rule in webhook.get("rules") or ())
    return asks and not any((webhook.get("objectSelector") or {}).values())


def _where(hook: Hook) -> str:
    if hook.service is not None:
        return "/".join(hook.service)
    return str((hook.document.get("clientConfig") or {}).get("url", "nowhere"))


def _finding(severity: Severity, hook: Hook, message: str, *, hint: str = "") -> Finding:
    return Finding(
        severity=severity,
        topic=Topic.WEBHOOK,
        about=hook.configuration,
        message=message,
        hint=hint,
    )

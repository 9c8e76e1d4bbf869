"""Webhook configurations of our kinds."""

from typing import Any

from lws.cli.check.findings import Severity
from lws.cli.check.hooks import hooks_of, judge_hooks
from lws.webhooks.configuration import ServiceAddress, mutating_configuration

PLACE = ServiceAddress(name="lws-webhook-service", namespace="lws-system")
KIND = "MutatingWebhookConfiguration"


def configuration(name: str | None = None, **changed: Any) -> dict[str, Any]:
    """Ours, under another name and with other fields in every webhook."""
    made = mutating_configuration(PLACE, ca_bundle=b"authority")
    if name is not None:
        made["metadata"]["name"] = name
    made["webhooks"] = [{**hook, **changed} for hook in made["webhooks"]]
    return made


def judged(
    made: dict[str, Any], missing: tuple[tuple[str, str], ...] = ()
) -> list[tuple[Severity, str, tuple[str, ...]]]:
    hooks = hooks_of(made, kind=KIND, namespace="lws-system")
    return [(one.severity, one.message, one.fields) for one in judge_hooks(hooks, missing=missing)]


def test_our_own_is_not_worth_a_word() -> None:
    assert judged(configuration()) == []


def test_a_second_installation_is_in_the_way_and_its_webhooks_are_named() -> None:
    ((severity, message, fields),) = judged(configuration("old-mutating"))
    assert severity is Severity.ERROR
    assert "refused" in message
    assert fields == ("mleaderworkerset.kb.io", "mpod.kb.io")


def test_one_that_fails_open_is_a_warning() -> None:
    ((severity, _, _),) = judged(configuration("old-mutating", failurePolicy="Ignore"))
    assert severity is Severity.WARNING


def test_a_queue_that_looks_at_our_sets_is_another_program() -> None:
    service = {"namespace": "queue-system", "name": "queue-webhook-service", "path": "/mutate"}
    config = {"service": service, "caBundle": "QQ=="}
    ((severity, message, fields),) = judged(configuration("queue", clientConfig=config))
    assert severity is Severity.INFO
    assert "queue-system/queue-webhook-service" in message
    assert fields == ("mleaderworkerset.kb.io",)


def test_a_policy_for_everything_is_not_about_us() -> None:
    rule = {"apiGroups": ["*"], "resources": ["*"]}
    config = {"service": {"namespace": "policy", "name": "policy"}, "caBundle": "QQ=="}
    assert judged(configuration("policy", clientConfig=config, rules=[rule])) == []


def test_a_service_that_is_not_there_refuses_every_write() -> None:
    ((severity, message, _),) = judged(configuration(), (("lws-system", PLACE.name),))
    assert severity is Severity.ERROR
    assert "lws-system/lws-webhook-service, which is not there" in message


def test_a_configuration_without_an_authority_is_told_with_who_fills_it_in() -> None:
    bare = mutating_configuration(PLACE)
    ((severity, message, _),) = judged(bare)
    assert severity is Severity.ERROR
    assert "caBundle" in message
    bare["metadata"]["annotations"] = {"cert-manager.io/inject-ca-from": "lws-system/cert"}
    hooks = hooks_of(bare, kind=KIND, namespace="lws-system")
    assert "cert-manager" in judge_hooks(hooks, missing=())[0].hint


def test_one_that_is_asked_about_every_pod_is_to_be_known() -> None:
    ((severity, message, fields),) = judged(configuration(objectSelector={}))
    assert (severity, fields) == (Severity.INFO, ("mpod.kb.io",))
    assert "every pod" in message

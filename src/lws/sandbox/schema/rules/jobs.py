"""Jobs."""

from lws.sandbox.schema.errors import invalid, not_supported, omitted_invalid, required
from lws.sandbox.schema.rules.pods import template_errors
from lws.sandbox.schema.rules.words import (
    IMMUTABLE,
    Faults,
    Object,
    not_negative,
    selector,
    selects,
    unchanged,
)

_UID = "batch.kubernetes.io/controller-uid"
_COUNTS = (
    *("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit"),
    "ttlSecondsAfterFinished",
)
_MODES = ("NonIndexed", "Indexed")
_REPLACEMENTS = ("Failed", "TerminatingOrFailed")


def job_rules(obj: Object, old: Object | None) -> Faults:
    """Job."""
    spec, template = obj["spec"], obj["spec"]["template"]
    yield from not_negative(spec, "spec", *_COUNTS)
    for field, known in (("completionMode", _MODES), ("podReplacementPolicy", _REPLACEMENTS)):
        if spec.get(field) not in known:
            yield not_supported(f"spec.{field}", spec.get(field), known)
    yield from template_errors(template, "spec.template")
    if template["spec"].get("restartPolicy") not in ("OnFailure", "Never"):
        yield required("spec.template.spec.restartPolicy", 'valid values: "OnFailure", "Never"')
    yield from _selector(obj, template)
    if old is not None:
        yield from unchanged(spec, old["spec"], "completions", "selector", prefix="spec.")
        if template != old["spec"]["template"]:
            yield omitted_invalid("spec.template", IMMUTABLE)
        yield from unchanged(spec, old["spec"], "completionMode", prefix="spec.")


def _selector(obj: Object, template: Object) -> Faults:
    spec = obj["spec"]
    wanted = spec.get("selector")
    if wanted is None:
        yield required("spec.selector")
    else:
        yield from selector(wanted, "spec.selector")
        own = {"matchLabels": {_UID: obj["metadata"].get("uid")}}
        if not spec.get("manualSelector") and wanted != own:
            yield invalid("spec.selector", wanted, "`selector` not auto-generated")
    labels = (template.get("metadata") or {}).get("labels") or {}
    if wanted is None or not selects(wanted, labels):
        words = "`selector` does not match template `labels`"
        yield invalid("spec.template.metadata.labels", labels or None, words)

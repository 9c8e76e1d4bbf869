"""Whether an object may be stored, and everything that speaks against it (api.md sections 2, 3).

Law: every rule names the path of its field and says what to do; no rule stops at the first error;
a document of any shape gets an answer.

On update an object answers only for what the update brings in: an error that the old object had
in the same way is a warning. So an object from a time without a webhook, or from before a rule,
can still be labelled, scaled down and repaired one field at a time.
"""

from collections.abc import Callable

from lws.admission.documents import JsonObject, is_being_deleted
from lws.admission.validation import disaggregatedset, leaderworkerset
from lws.admission.validation.places import Place, Report
from lws.admission.validation.verdict import Cause, FieldError, Verdict

__all__ = [
    "Cause",
    "FieldError",
    "Verdict",
    "validate_disaggregatedset",
    "validate_leaderworkerset",
]


def validate_leaderworkerset(new: JsonObject, old: JsonObject | None = None) -> Verdict:
    """A LeaderWorkerSet that is created (`old` is None) or updated."""
    if _is_only_leaving(new, old):
        return Verdict()
    named = _examined(new, leaderworkerset.check_name)
    found = _examined(new, leaderworkerset.check_object)
    if old is None:
        return Verdict(_joined(named, found), found.warnings)
    kept = Report()
    leaderworkerset.check_kept(
        Place(new, path="", report=kept), old=Place(old, path="", report=Report())
    )
    before = _examined(old, leaderworkerset.check_object)
    return _ratcheted(named=named, found=found, before=before, kept=kept)


def validate_disaggregatedset(new: JsonObject, old: JsonObject | None = None) -> Verdict:
    """A DisaggregatedSet that is created (`old` is None) or updated."""
    if _is_only_leaving(new, old):
        return Verdict()
    named = _examined(new, disaggregatedset.check_name)
    found = _examined(new, disaggregatedset.check_object)
    if old is None:
        return Verdict(_joined(named, found), found.warnings)
    before = _examined(old, disaggregatedset.check_object)
    return _ratcheted(named=named, found=found, before=before, kept=Report())


def _is_only_leaving(new: JsonObject, old: JsonObject | None) -> bool:
    """Whether this update only takes finalizers off an object that is being deleted."""
    return old is not None and is_being_deleted(new) and _spec(new) == _spec(old)


def _spec(document: object) -> object:
    return document.get("spec") if isinstance(document, dict) else None


def _examined(document: JsonObject, check: Callable[[Place], None]) -> Report:
    report = Report()
    check(Place(document, path="", report=report))
    return report


def _joined(*reports: Report) -> tuple[FieldError, ...]:
    joined = Report()
    for report in reports:
        for error in report.errors:
            joined.add(error)
    return joined.errors


def _ratcheted(*, named: Report, found: Report, before: Report, kept: Report) -> Verdict:
    """A name cannot be changed any more, so what is wrong with it is only worth telling."""
    had = before.errors
    brought = [error for error in found.errors if error not in had]
    told = [error for error in found.errors if error in had]
    # That a field has a wrong type is among `found` already.
    changed = [error for error in kept.errors if error.kind is not Cause.WRONG_TYPE]
    warnings = [str(error) for error in (*named.errors, *told)]
    return Verdict((*brought, *changed), tuple(dict.fromkeys([*warnings, *found.warnings])))

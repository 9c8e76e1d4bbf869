"""Two recorded revisions against each other. Pure."""

from collections.abc import Mapping, Sequence

from lws.base.errors import InvalidInput
from lws.cli.everyday.changes import Change, changes, with_value
from lws.cli.everyday.diff import disaggregatedset, leaderworkerset
from lws.cli.everyday.diff.fields import Difference, Effect, Field
from lws.cli.everyday.diff.leaderworkerset import title_of
from lws.cli.everyday.history import keyed
from lws.planner.meaning import same_template
from lws.planner.revision import Revision

FROM, TO = "--from-revision", "--to-revision"


def between(standing: leaderworkerset.Standing, old: str | None, new: str | None) -> Difference:
    """From one revision of a LeaderWorkerSet to another; None: the one that the spec asks for."""
    lws = standing.family.lws
    key = leaderworkerset.wanted_key(standing, lws)
    first, last = (
        keyed(standing.revisions, key if one is None else one, flag=flag)
        for one, flag in ((old, FROM), (new, TO))
    )
    return Difference(
        title=title_of(lws),
        verdict=f"from revision {first.key} to {last.key}",
        fields=tuple(
            Field(change, Effect.SAME if _means_the_same(change, last) else Effect.ROLLS)
            for change in changes(_whole(first), _whole(last))
        ),
    )


def _whole(revision: Revision) -> Mapping[str, object]:
    annotations = {"metadata": {"annotations": dict(revision.topologies)}}
    return {**revision.document, **(annotations if revision.topologies else {})}


def _means_the_same(change: Change, last: Revision) -> bool:
    if change.is_order or change.steps[0] == "metadata":
        return False
    return same_template(last.document, with_value(last.document, change.steps, change.old))


def between_roles(
    standing: disaggregatedset.Standing, old: str | None, new: str | None
) -> Difference:
    """The same of a DisaggregatedSet, whose revisions are those that still have sets."""
    keys = [str(key) for key in sorted({held.place.revision for held in standing.sets})]
    wanted = disaggregatedset.key_of_spec(standing)
    first, last = (
        _chosen(keys, wanted if one is None else one, flag=flag)
        for one, flag in ((old, FROM), (new, TO))
    )
    left, right = (disaggregatedset.templates_of(standing, key) for key in (first, last))
    fields = [
        Field(change, _role_effect(change, right))
        for change in changes({"roles": left}, {"roles": right})
    ]
    return Difference(
        title=title_of(standing.ds),
        verdict=f"from revision {first} to {last}",
        fields=tuple(fields),
    )


def _role_effect(change: Change, right: Mapping[str, object]) -> Effect:
    if len(change.steps) < 3 or change.is_order:
        return Effect.ROLLS
    role = change.steps[1]
    then = with_value(right[role], change.steps[2:], change.old)
    same = same_template({"leaderWorkerTemplate": then}, {"leaderWorkerTemplate": right[role]})
    return Effect.SAME if same else Effect.ROLLS


def _chosen(keys: Sequence[str], key: str, *, flag: str) -> str:
    found = [one for one in keys if one == key] or [
        one for one in keys if key and one.startswith(key)
    ]
    if len(found) == 1:
        return found[0]
    words = "no revision has" if not found else "several revisions begin with"
    there = ", ".join(keys) or "none"
    raise InvalidInput(
        field=flag, message=f"{words} key {key!r}; those that have sets are: {there}"
    )

"""Rules: what somebody may give away is what he may do, whatever the rules look like."""

from itertools import product
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lws.sandbox.server.authorization import Attributes
from lws.sandbox.server.authorization.rules import allows, missing

VERBS, GROUPS, NAMES = ("get", "list"), ("", "apps"), ("", "a", "b")
RESOURCES, PATHS = ("pods", "pods/log", "sets", "sets/log"), ("/", "/a", "/a/b")

WORLD = [
    Attributes(user="joe", verb=verb, group=group, resource=plural, subresource=part, name=name)
    for verb, group, (plural, _, part), name in product(
        VERBS, GROUPS, [one.partition("/") for one in RESOURCES], NAMES
    )
] + [Attributes(user="joe", verb=verb, path=path) for verb, path in product(VERBS, PATHS)]
"""All that can be asked for in this small world."""


def some(*choices: str) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(choices), min_size=1, max_size=2)


def rules(*, wild: bool) -> st.SearchStrategy[dict[str, Any]]:
    more = ("*",) if wild else ()
    on_resources = st.fixed_dictionaries(
        {
            "verbs": some(*VERBS, *more),
            "apiGroups": some(*GROUPS, *more),
            "resources": some(*RESOURCES, *((*more, "*/log") if wild else ())),
        },
        optional={"resourceNames": some("a", "b")},
    )
    paths = some(*PATHS, *(("*", "/a/*") if wild else ()))
    return on_resources | st.fixed_dictionaries(
        {"verbs": some(*VERBS, *more), "nonResourceURLs": paths}
    )


def allowed(several: list[dict[str, Any]]) -> list[Attributes]:
    return [asked for asked in WORLD if any(allows(rule, asked) for rule in several)]


@given(st.lists(rules(wild=True), max_size=4), st.lists(rules(wild=True), max_size=3))
def test_who_lacks_nothing_of_a_role_may_do_all_that_it_allows(
    owned: list[dict[str, Any]], wanted: list[dict[str, Any]]
) -> None:
    if not missing(owned, wanted):
        mine = allowed(owned)
        assert [asked for asked in allowed(wanted) if asked not in mine] == []


@given(st.lists(rules(wild=True), max_size=4), st.lists(rules(wild=False), max_size=3))
def test_who_lacks_something_of_a_plain_role_may_not_do_all_that_it_allows(
    owned: list[dict[str, Any]], wanted: list[dict[str, Any]]
) -> None:
    """With wildcards he may: a wildcard in a role is more than all that there is today."""
    if missing(owned, wanted):
        mine = allowed(owned)
        assert [asked for asked in allowed(wanted) if asked not in mine] != []


@given(st.lists(rules(wild=True), max_size=4))
def test_everybody_may_give_away_what_he_has(owned: list[dict[str, Any]]) -> None:
    assert missing(owned, owned) == []

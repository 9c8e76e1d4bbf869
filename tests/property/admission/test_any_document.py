"""Whatever comes in, an answer goes out; and what a mutation says of itself holds."""

import base64
import copy
from typing import Any

import orjson
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lws.admission.defaulting import default_disaggregatedset, default_leaderworkerset
from lws.admission.jsonpatch import apply, diff, is_same
from lws.admission.pods import Rejected, mutate_pod
from lws.admission.validation import (
    Verdict,
    validate_disaggregatedset,
    validate_leaderworkerset,
)
from lws.webhooks import handle, paths

P = "leaderworkerset.sigs.k8s.io/"
PATHS = [value for key, value in vars(paths).items() if key.isupper()]

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**40), 2**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "0", "1", "2", "25%", "0%", "x", "None", "LeaderExcluded", "External"])
    | st.text("aZ~/ü ", max_size=4)
)
json = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b", "a/b", "~", "env", ""]), inner, max_size=4)
    ),
    max_leaves=12,
)

small: list[Any] = [[], {}, [None], [[]], {"a": 1}, {"env": [{}]}]
junk = scalars | st.sampled_from(small)


def objects(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """An object whose fields are mostly what they should be, or something else, or not there."""
    return st.fixed_dictionaries({}, optional={k: v | junk for k, v in fields.items()})


def shaped(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Such an object, or something else altogether."""
    return objects(**fields) | junk


few = st.integers(-1, 5)
metadata = shaped(
    name=st.sampled_from(["serve", "serve-0", "serve-0-1", "X", "a" * 70]),
    labels=st.dictionaries(
        st.sampled_from([P + k for k in ("name", "worker-index", "group-index")]), scalars
    ),
    annotations=st.dictionaries(
        st.sampled_from(
            [P + k for k in ("size", "subgroup-size", "subgroup-policy-type", "leader-name")]
            + [P + k for k in ("exclusive-topology", "subgroup-exclusive-topology")]
        ),
        scalars,
    ),
    deletionTimestamp=st.just("2026-01-01T00:00:00Z"),
)
lws_spec = shaped(
    replicas=few,
    leaderWorkerTemplate=shaped(
        size=few,
        workerTemplate=shaped(metadata=metadata),
        subGroupPolicy=shaped(subGroupSize=few),
        restartPolicy=st.sampled_from(["None", "Default"]),
        maxGroupRestarts=few,
        volumeClaimTemplates=st.lists(json, max_size=2),
    ),
    rolloutStrategy=shaped(
        rollingUpdateConfiguration=shaped(partition=few, maxSurge=scalars, maxUnavailable=scalars)
    ),
    networkConfig=shaped(subdomainPolicy=scalars),
)
set_objects = objects(metadata=metadata, spec=lws_spec)
sets = set_objects | junk
disaggregated_sets = shaped(
    metadata=metadata,
    spec=shaped(
        roles=st.lists(
            shaped(
                name=st.sampled_from(["a", "b", "A"]),
                spec=lws_spec,
                metadata=metadata,
                scaling=shaped(mode=scalars),
            ),
            max_size=3,
        ),
        slices=few,
        placementPolicy=shaped(type=st.just("ExclusiveSlice"), topology=scalars),
    ),
)
containers = st.lists(
    shaped(
        env=st.lists(
            shaped(name=st.sampled_from(["A", "LWS_GROUP_SIZE", "TPU_NAME", "TPU_PROCESS_PORT"])),
            max_size=3,
        ),
        resources=shaped(limits=st.fixed_dictionaries({"google.com/tpu": scalars})),
    ),
    max_size=3,
)
pods = objects(
    metadata=metadata,
    spec=shaped(containers=containers, initContainers=containers, affinity=json, subdomain=scalars),
)

quick = settings(max_examples=60, deadline=None)


def judged(verdict: Verdict) -> None:
    for error in verdict.errors:
        assert error.message
        assert str(error).startswith(error.path)


@quick
@given(json, json)
@example({"a": 1}, {"a": True})
@example([0, 1, 0], [0, 0])
@example({"": {"~1/": []}}, {"": {"~1/": [{}]}})
def test_a_patch_leads_from_the_old_to_the_new(old: object, new: object) -> None:
    before = copy.deepcopy(old)
    patch = diff(old, new)
    assert is_same(apply(patch, old), new)
    assert is_same(old, before)
    assert (patch == []) is is_same(old, new)


@quick
@given(st.lists(st.integers(0, 3), max_size=8), st.lists(st.integers(0, 3), max_size=8))
def test_a_patch_of_lists_is_no_longer_than_the_longer_list(old: list[int], new: list[int]) -> None:
    patch = diff(old, new)
    assert apply(patch, old) == new
    assert len(patch) <= max(len(old), len(new))


@quick
@given(sets, sets)
def test_any_leaderworkerset_gets_a_verdict(new: Any, old: Any) -> None:
    judged(validate_leaderworkerset(new))
    judged(validate_leaderworkerset(new, old))


@quick
@given(sets.filter(lambda value: value is not None))
def test_an_update_that_changes_nothing_is_allowed(document: Any) -> None:
    assert validate_leaderworkerset(document, copy.deepcopy(document)).is_allowed


@quick
@given(disaggregated_sets, disaggregated_sets)
def test_any_disaggregatedset_gets_a_verdict(new: Any, old: Any) -> None:
    judged(validate_disaggregatedset(new))
    judged(validate_disaggregatedset(new, old))
    if new is not None:
        assert validate_disaggregatedset(new, copy.deepcopy(new)).is_allowed


@quick
@given(set_objects)
def test_defaulting_twice_is_defaulting_once(document: Any) -> None:
    before = copy.deepcopy(document)
    for default in (default_leaderworkerset, default_disaggregatedset):
        defaulted = default(document)
        assert default(defaulted) is defaulted
        assert document == before


@quick
@given(set_objects)
def test_defaulting_brings_in_no_error(document: Any) -> None:
    had = {error.path for error in validate_leaderworkerset(document).errors}
    defaulted = default_leaderworkerset(document)
    has = {error.path for error in validate_leaderworkerset(defaulted).errors}
    assert has <= had


@quick
@given(pods)
def test_any_pod_is_mutated_or_refused(pod: Any) -> None:
    before = copy.deepcopy(pod)
    try:
        mutated = mutate_pod(pod, namespace="default")
    except Rejected:
        return
    assert pod == before
    assert mutate_pod(mutated, namespace="default") == mutated
    assert is_same(apply(diff(pod, mutated), pod), mutated)


@quick
@given(
    st.sampled_from(PATHS),
    st.fixed_dictionaries(
        {"apiVersion": st.just("admission.k8s.io/v1"), "kind": st.just("AdmissionReview")},
        optional={
            "request": shaped(
                uid=st.just("u"),
                operation=st.sampled_from(["CREATE", "UPDATE", "DELETE"]),
                namespace=st.just("default"),
                object=sets | pods | disaggregated_sets,
                oldObject=sets | disaggregated_sets,
            )
        },
    ),
)
def test_any_review_is_answered(path: str, document: Any) -> None:
    code, answer = handle(path, orjson.dumps(document))
    assert code in (200, 400)
    response = orjson.loads(answer)
    if code == 200:
        assert response["response"]["uid"] == document["request"]["uid"]
        if "patch" in response["response"]:
            patch = orjson.loads(base64.b64decode(response["response"]["patch"]))
            apply(patch, document["request"]["object"])


@quick
@given(st.text("/-amv1pod", max_size=20), st.binary(max_size=60))
def test_any_bytes_are_answered(path: str, body: bytes) -> None:
    for tried in (path, *PATHS):
        assert handle(tried, body)[0] in (400, 404)

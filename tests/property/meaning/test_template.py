"""Another writer's spelling is never an update; a real change always is."""

from __future__ import annotations

import copy
import json
from collections import Counter
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lws.planner.meaning import normalise_template, same_template, template_digest
from scripts.generate.samples import Sampler, reachable
from tests.property.meaning.writers import TEMPLATE, Changer, Writer

SEEDS = st.integers(min_value=0, max_value=2**32)
FIELDS = sorted(reachable("lws.LeaderWorkerTemplate"))


def a_template(random: Random) -> dict[str, Any]:
    """Some fields, one in eight of them sought and the others by chance."""
    seen = Counter({field: 0 if random.random() < 0.12 else 3 for field in FIELDS})
    sampled = Sampler(random, seen).sample("lws.LeaderWorkerTemplate")
    assert isinstance(sampled, dict)
    return sampled


def whole(template: dict[str, Any]) -> dict[str, Any]:
    return {"leaderWorkerTemplate": template}


@given(SEEDS)
@settings(max_examples=200, deadline=None)
def test_another_writers_spelling_means_the_same(seed: int) -> None:
    random = Random(seed)
    template = a_template(random)
    spelled = Writer(random).spell(copy.deepcopy(template), TEMPLATE)
    assert normalise_template(whole(spelled)) == normalise_template(whole(template)), spelled
    assert template_digest(whole(spelled)) == template_digest(whole(template))


@given(SEEDS)
@settings(max_examples=200, deadline=None)
def test_a_real_change_means_something_else(seed: int) -> None:
    random = Random(seed)
    template = a_template(random)
    changed = Changer(random).change(template)
    assert not same_template(whole(changed), whole(template)), json.dumps([template, changed])
    assert template_digest(whole(changed)) != template_digest(whole(template))
    respelled = Writer(random).spell(changed, TEMPLATE)
    assert not same_template(whole(respelled), whole(template))

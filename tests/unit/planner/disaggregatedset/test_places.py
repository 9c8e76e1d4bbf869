"""Where an object of ours belongs: by its name, else by its labels."""

from collections.abc import Mapping

import msgspec
import pytest

from lws.api import core, leaderworkerset, names
from lws.planner.disaggregatedset.snapshot import Place, place_of

LABELS = {names.DS_ROLE: "r", names.DS_REVISION: "v", names.DS_SLICE: "4"}


def place(
    name: str, *, ds: str = "pd", service: bool = False, labels: Mapping[str, str] = LABELS
) -> Place:
    document = msgspec.json.encode({"metadata": {"name": name, "labels": labels}})
    read = core.decode_service(document) if service else leaderworkerset.decode(document)
    return place_of(read, ds=ds)


@pytest.mark.parametrize(
    ("name", "ds", "wanted"),
    [
        ("pd-0-0123abcd-prefill", "pd", ("prefill", "0123abcd", 0, True)),
        ("pd-17-0123abcd-a-b-c", "pd", ("a-b-c", "0123abcd", 17, True)),
        ("pd-0123abcd-prefill", "pd", ("prefill", "0123abcd", 0, False)),
        ("pd-12345678-prefill", "pd", ("prefill", "12345678", 0, False)),
        ("a-1-b-2-0123abcd-r", "a-1-b", ("r", "0123abcd", 2, True)),
        ("pd-0-0123abcd-0-89abcdef-x", "pd", ("0-89abcdef-x", "0123abcd", 0, True)),
    ],
)
def test_a_name_of_our_form_says_it_whatever_the_labels_say(
    name: str, ds: str, wanted: tuple[object, ...]
) -> None:
    assert place(name, ds=ds) == wanted
    assert place(f"{name}-prv", ds=ds, service=True) == wanted


@pytest.mark.parametrize("name", ["other-0-0123abcd-r", "pd-0-short-r", "x-pd-0-0123abcd-r", "pd"])
def test_else_the_labels_say_it(name: str) -> None:
    assert place(name) == ("r", "v", 4, True)


@pytest.mark.parametrize("index", ["", "x", "-1", "4000", "\u0663"])
def test_a_slice_label_that_is_no_number_is_none(index: str) -> None:
    assert place("pd", labels={**LABELS, names.DS_SLICE: index}) == ("r", "v", 0, False)

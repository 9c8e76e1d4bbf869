"""Quantities are read and written as Go does."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from lws.api.quantities import canonical_quantity, format_quantity, parse_quantity

GOLDEN = Path(__file__).parents[2] / "golden" / "quantities-of-go.json"


def test_each_quantity_is_written_as_go_writes_it() -> None:
    for text, answer in json.loads(GOLDEN.read_text()):
        if answer is None:
            with pytest.raises(ValueError, match="not a quantity"):
                canonical_quantity(text)
        else:
            assert canonical_quantity(text) == answer, text


@pytest.mark.parametrize(
    ("value", "amount"),
    [
        ("1000m", Fraction(1)),
        ("0.5", Fraction(1, 2)),
        ("1.5Gi", Fraction(3 * 2**29)),
        ("1e3", Fraction(1000)),
        ("-1Ki", Fraction(-1024)),
        ("0.1n", Fraction(1, 10**9)),
        ("9Ei", Fraction(2**63 - 1)),
        (2, Fraction(2)),
        (0.5, Fraction(1, 2)),
        (" 1 ", Fraction(1)),
    ],
)
def test_an_amount_is_exact(value: str | float, amount: Fraction) -> None:
    assert parse_quantity(value) == amount


@pytest.mark.parametrize(
    "garbage",
    [
        "",
        "-",
        ".",
        "m",
        "Ki",
        "1K",
        "1mi",
        "1 Gi",
        "e3",
        "1e",
        "0x1",
        "١",
        "1e999999999",
        "a",
        "NaN",
    ],
)
def test_garbage_is_refused(garbage: str) -> None:
    with pytest.raises(ValueError, match="not a quantity"):
        parse_quantity(garbage)


@pytest.mark.parametrize("other", [True, None, [], float("nan"), float("inf")])
def test_what_is_no_number_is_refused(other: object) -> None:
    with pytest.raises(ValueError, match="not a quantity"):
        parse_quantity(other)  # type: ignore[arg-type]


def test_more_digits_than_python_reads_are_refused() -> None:
    with pytest.raises(ValueError, match="limit"):
        parse_quantity("9" * 5000)


@pytest.mark.parametrize(
    ("amount", "binary", "text"),
    [
        (Fraction(1024), True, "1Ki"),
        (Fraction(1000), True, "1k"),
        (Fraction(3 * 2**29), True, "1536Mi"),
        (Fraction(3, 2), True, "1500m"),
        (Fraction(4000), False, "4k"),
        (Fraction(1, 3), False, "333333334n"),
        (Fraction(0), True, "0"),
        (Fraction(-2048), True, "-2Ki"),
    ],
)
def test_a_computed_amount_has_a_canonical_form(amount: Fraction, binary: bool, text: str) -> None:
    assert format_quantity(amount, binary=binary) == text

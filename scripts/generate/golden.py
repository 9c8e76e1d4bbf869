"""Golden files that Go answers: its table of types, revision keys, canonical quantities."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from random import Random

from generate.samples import QUANTITIES, Sampler, reachable

TEMPLATE = "lws.LeaderWorkerTemplate"
CASES_TRIED = 300
CASES_MAX = 3000
CASES_KEPT = 150
SUFFIXES = (
    *("", "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"),
    *("e3", "E3", "e-3", "e1", "e+2", "e-12", "E9", "K", "ki", "mi", "x", "e", "e1.5"),
)


def write_table(gotypes: Path, target: Path) -> None:
    target.write_text("\n".join(_ask_go(gotypes, "table", [])) + "\n")


def _ask_go(gotypes: Path, mode: str, lines: list[str]) -> list[str]:
    done = subprocess.run(
        ["go", "run", ".", mode],
        cwd=gotypes,
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def cases() -> list[list[dict[str, object]]]:
    """The smallest of many random cases that together hold each field at least once."""
    sampler = Sampler(Random(20260801))
    made = []
    wanted = reachable(TEMPLATE)
    for number in range(CASES_MAX):
        if number >= CASES_TRIED and wanted <= sampler.seen.keys():
            break
        names = ("prefill", "decode")[: 1 + number % 2]
        covered: set[tuple[str, str]] = set()
        roles: list[dict[str, object]] = []
        for name in names:
            roles.append({"name": name, "template": sampler.sample(TEMPLATE)})
            covered |= sampler.made
        made.append((roles, covered))
    return _smallest(made)


def _smallest(
    made: list[tuple[list[dict[str, object]], set[tuple[str, str]]]],
) -> list[list[dict[str, object]]]:
    missing = reachable(TEMPLATE)
    kept: list[list[dict[str, object]]] = []
    rest = sorted(made, key=lambda pair: len(json.dumps(pair[0])))
    while missing:
        best = max(rest, key=lambda pair: len(pair[1] & missing) / len(json.dumps(pair[0])))
        assert best[1] & missing, f"no case holds {sorted(missing)}"
        rest.remove(best)
        kept.append(best[0])
        missing -= best[1]
    return kept + [roles for roles, _ in rest[: max(0, CASES_KEPT - len(kept))]]


def write_keys(gotypes: Path, target: Path) -> None:
    lines = [json.dumps(roles, separators=(",", ":")) for roles in cases()]
    answers = _ask_go(gotypes, "keys", lines)
    rows = [
        f'{{"key":{json.dumps(json.loads(answer)["key"])},"roles":{line}}}'
        for line, answer in zip(lines, answers, strict=True)
    ]
    target.write_text("[\n" + ",\n".join(rows) + "\n]\n")


def write_quantities(gotypes: Path, target: Path) -> None:
    random = Random(20260801)
    written = [str(each) for each in QUANTITIES] + [_quantity(random) for _ in range(600)]
    answers = _ask_go(gotypes, "quantities", written)
    rows = [
        f"[{json.dumps(text)}, {'null' if answer == 'error' else answer}]"
        for text, answer in zip(written, answers, strict=True)
    ]
    target.write_text("[\n" + ",\n".join(rows) + "\n]\n")


def _quantity(random: Random) -> str:
    def digits(most: int) -> str:
        return "".join(random.choice("0123456789000") for _ in range(random.randint(1, most)))

    sign = random.choice(("", "", "", "-", "+"))
    fraction = random.choice(("", "", f".{digits(12)}"))
    return sign + digits(random.choice((2, 4, 16, 25))) + fraction + random.choice(SUFFIXES)

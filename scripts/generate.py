"""Write the generated files anew: `make generate`.

python scripts/generate.py           what needs Python only
python scripts/generate.py --go      the table of Go types and the golden files that Go answers
"""

from __future__ import annotations

import sys
from pathlib import Path

from generate.golden import write_keys, write_quantities, write_table

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "src" / "lws" / "api" / "data"
GOTYPES = ROOT / "hack" / "gotypes"
GOLDEN = ROOT / "tests" / "golden"


def main(arguments: list[str]) -> None:
    if "--go" in arguments:
        write_table(GOTYPES, DATA / "gotypes.json")
        write_keys(GOTYPES, GOLDEN / "ds-keys-of-go.json")
        write_quantities(GOTYPES, GOLDEN / "quantities-of-go.json")


if __name__ == "__main__":
    main(sys.argv[1:])

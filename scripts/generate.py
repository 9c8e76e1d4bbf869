"""Write the generated files anew: `make generate`.

python scripts/generate.py           what needs Python only
python scripts/generate.py --go      and the table of Go types, and golden files that Go answers
… --check                            write nothing; say which files are not as generated
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from generate.builtin import write_merge_keys, write_schemas
from generate.crds import write_crds, write_crds_file
from generate.deploy import write_deploy, write_roles_file
from generate.golden import write_keys, write_quantities, write_table
from generate.protobuf import write_protobuf
from generate.reference import write_commands, write_reference
from generate.sandbox import write_definitions, write_wire
from generate.webhooks import write_webhooks

ROOT = Path(__file__).resolve().parent.parent
GOTYPES = ROOT / "hack" / "gotypes"
WIRETYPES = ROOT / "hack" / "wiretypes"


def write_all(root: Path, *, with_go: bool) -> None:
    data, golden = root / "src" / "lws" / "api" / "data", root / "tests" / "golden"
    sandbox = root / "src" / "lws" / "sandbox" / "schema" / "data"
    for folder in (data, golden, sandbox):
        folder.mkdir(parents=True, exist_ok=True)
    if with_go:
        write_table(GOTYPES, data / "gotypes.json")
        write_keys(GOTYPES, golden / "ds-keys-of-go.json")
        write_quantities(GOTYPES, golden / "quantities-of-go.json")
        write_wire(WIRETYPES, sandbox / "wire.json")
    write_schemas(data / "schemas.json")
    write_merge_keys(data / "mergekeys.json")
    write_definitions(sandbox)
    if with_go:
        fields = root / "src" / "lws" / "sandbox" / "server" / "protobuf" / "fields.json"
        write_protobuf(WIRETYPES, sandbox / "definitions.json", fields)
    write_crds(root / "deploy" / "crds")
    write_reference(root / "docs" / "reference")
    write_commands(root / "docs" / "cli.md")
    write_crds_file(data / "crds.json")
    write_roles_file(ROOT / "deploy", data / "roles.json")
    write_webhooks(root / "deploy" / "kustomize" / "base" / "webhooks.yaml")
    write_deploy(ROOT / "deploy", root / "deploy")


def stale_files(*, with_go: bool) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        write_all(Path(folder), with_go=with_go)
        made = {path.relative_to(folder): path for path in Path(folder).rglob("*.*")}
        return sorted(
            str(name)
            for name, path in made.items()
            if path.is_file()
            and not ((ROOT / name).is_file() and (ROOT / name).read_bytes() == path.read_bytes())
        )


def main(arguments: list[str]) -> int:
    with_go = "--go" in arguments
    if "--check" not in arguments:
        write_all(ROOT, with_go=with_go)
        return 0
    stale = stale_files(with_go=with_go)
    for name in stale:
        print(f"not as generated: {name}", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

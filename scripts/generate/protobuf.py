"""Field numbers of the built-in kinds in protobuf, which kubectl sends: one line a message.

Read from the `generated.proto` files of the Go modules that hack/wiretypes names.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from generate.sandbox import ROOTS

MODULES = ("k8s.io/api", "k8s.io/apimachinery", "k8s.io/apiextensions-apiserver")
UNREAD = ("io.k8s.apiextensions-apiserver",)  # definitions come as JSON or YAML
SCALARS = frozenset(("string", "bytes", "bool", "int32", "int64", "double", "uint32", "uint64"))
_PACKAGE = re.compile(r"^package ([\w.]+);", re.MULTILINE)
_MESSAGE = re.compile(r"^message (\w+) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(
    r"^\s+(optional|repeated|required) (\.?[\w.]+) (\w+) = (\d+);"
    r"|^\s+map<string, (\.?[\w.]+)> (\w+) = (\d+);",
    re.MULTILINE,
)

Fields = dict[str, list[str]]


def write_protobuf(wiretypes: Path, definitions: Path, target: Path) -> None:
    """`definitions`: the schemas that `generate.sandbox` wrote; they know the JSON names."""
    schemas = json.loads(definitions.read_text(encoding="utf-8"))
    messages: dict[str, Fields] = {}
    for module in MODULES:
        for proto in sorted(_folder(wiretypes, module).rglob("generated.proto")):
            messages |= _read(proto.read_text(encoding="utf-8"))
    kept = {
        name: _as_json(fields, schemas.get(name, {}).get("properties", {}))
        for name, fields in _reachable(messages).items()
    }
    lines = (f"{json.dumps(name)}:{json.dumps(kept[name], separators=(',', ':'))}" for name in kept)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _folder(wiretypes: Path, module: str) -> Path:
    command = ["go", "list", "-m", "-f", "{{.Dir}}", module]
    done = subprocess.run(command, cwd=wiretypes, check=True, capture_output=True, text=True)
    return Path(done.stdout.strip())


def _read(text: str) -> dict[str, Fields]:
    package = _PACKAGE.search(text)
    assert package is not None
    return {
        _name(f"{package.group(1)}.{name}"): _fields(body, package.group(1))
        for name, body in _MESSAGE.findall(text)
    }


def _fields(body: str, package: str) -> Fields:
    """Number to JSON name, kind (one, many, map) and type."""
    fields: Fields = {}
    for label, kind, name, number, value_kind, map_name, map_number in _FIELD.findall(body):
        if label:
            fields[number] = [name, "many" if label == "repeated" else "one", _type(kind, package)]
        else:
            fields[map_number] = [map_name, "map", _type(value_kind, package)]
    return fields


def _as_json(fields: Fields, properties: dict[str, object]) -> Fields:
    """With JSON's names; a message that JSON has no name for is a part of the one around it."""
    if not properties:
        return fields
    renamed: Fields = {}
    for number, (name, count, kind) in fields.items():
        lower = name[:1].lower() + name[1:]
        if name in properties or lower in properties:
            renamed[number] = [name if name in properties else lower, count, kind]
        elif kind not in SCALARS:
            renamed[number] = [name, "inline", kind]
    return renamed


def _type(word: str, package: str) -> str:
    if word in SCALARS:
        return word
    return _name(word[1:]) if word.startswith(".") else _name(f"{package}.{word}")


def _name(proto: str) -> str:
    """As the schemas call it."""
    renamed = proto.replace("k8s.io.api.", "io.k8s.api.", 1)
    renamed = renamed.replace("k8s.io.apimachinery.", "io.k8s.apimachinery.", 1)
    return renamed.replace("k8s.io.apiextensions_apiserver.", "io.k8s.apiextensions-apiserver.", 1)


def _reachable(messages: dict[str, Fields]) -> dict[str, Fields]:
    wanted = [f"{package}.{name}" for package, names in ROOTS.items() for name in names]
    pending = [one for one in wanted if not one.startswith(UNREAD)]
    kept: dict[str, Fields] = {}
    while pending:
        name = pending.pop()
        if name in kept or name not in messages:
            continue
        kept[name] = messages[name]
        pending += [kind for _, _, kind in messages[name].values() if kind not in SCALARS]
    return dict(sorted(kept.items()))

"""What a YAML file holds, as kubectl would send it."""

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from lws.base.errors import InvalidInput
from lws.cli import main
from lws.cli.documents import documents_of

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "vllm" / "leaderworkerset.yaml"


def test_the_items_of_a_list_are_documents_as_kubectl_get_writes_them() -> None:
    text = "kind: List\nitems: [{kind: A}, {kind: BList, items: [{kind: B}]}]\n---\n---\nkind: C\n"
    assert documents_of(text, field="f") == [{"kind": "A"}, {"kind": "B"}, {"kind": "C"}]


def test_a_date_and_a_key_are_text_and_a_number_past_64_bits_is_not_whole() -> None:
    text = f"a: 2019-13-45\nb: !!timestamp x\n8080: true\ntrue: {10**30}\nc: 18446744073709551615\n"
    (found,) = documents_of(text, field="f")
    assert found == {
        "a": "2019-13-45",
        "b": "x",
        "8080": True,
        "true": 1e30,
        "c": 18446744073709551615,
    }
    assert isinstance(found["true"], float)


@pytest.mark.parametrize(
    "text",
    [
        "a: .nan",
        "a: -.inf",
        "a: &a {x: *a, y: *a}",
        "a: !!set {x}",
        "a: !!binary aGk=",
        "a: !!int x",
        'a: !!int ""',
        "a: !!bool x",
        f"a: 1{'0' * 5000}",
        f"a: {'[' * 101}{']' * 101}",
        f"a: {'[' * 5000}{']' * 5000}",
        "a: [",
        "? [a]\n: b",
        "\n".join(["a0: &a0 x", *(f"a{n + 1}: &a{n + 1} [{9 * f'*a{n},'}]" for n in range(9))]),
    ],
)
def test_what_json_has_no_word_for_is_told_with_the_name_of_the_file(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"^f: (cannot be JSON|is not YAML): [^\n]+$"):
        documents_of(text, field="f")


@pytest.mark.parametrize("command", [["plan", "rollout"], ["simulate"]])
@pytest.mark.parametrize("replicas", ["2019-01-01", str(10**30), ".nan", "&a [*a]"])
def test_no_value_of_a_manifest_is_a_crash(command: list[str], replicas: str) -> None:
    text = EXAMPLE.read_text(encoding="utf-8").replace("replicas: 2", f"replicas: {replicas}")
    result = CliRunner().invoke(main, [*command, "-f", "-"], input=text)
    assert result.exit_code == 2, result.exception
    assert result.stderr.startswith("error: ")


def test_a_list_of_sets_is_planned() -> None:
    document = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    text = yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": [document]})
    result = CliRunner().invoke(main, ["plan", "rollout", "-f", "-"], input=text)
    assert result.exit_code == 0, result.stderr
    assert "LeaderWorkerSet vllm: 2 groups" in result.stdout

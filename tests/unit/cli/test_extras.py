"""What is told where a part is not installed."""

import pytest
from click.testing import CliRunner

from lws.cli import extras, main


@pytest.mark.parametrize("command", [["up"], ["simulate", "-f", "x.yaml"]])
def test_a_missing_sandbox_is_told_with_what_to_type(
    monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 2
    assert "hint: install it with: pip install 'lws[sandbox]'" in result.stderr

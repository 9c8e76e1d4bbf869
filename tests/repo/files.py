"""The files of this repository, as Git knows them."""

import re
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@cache
def tracked() -> tuple[Path, ...]:
    """All files that are checked in and there, by their paths from the root."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = (Path(name) for name in listed.stdout.split("\0") if name)
    return tuple(name for name in names if (ROOT / name).is_file())


def text_of(path: Path) -> str | None:
    """The text of a file by its path from the root; None if it is not text."""
    try:
        return (ROOT / path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def pages() -> tuple[Path, ...]:
    """What people read."""
    return tuple(path for path in tracked() if path.suffix == ".md")


def code_of(page: str) -> list[str]:
    """Lines of a page's code blocks, comments cut off, and its spans of code."""
    fence = re.compile(r"^```[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
    blocks = [line for block in fence.findall(page) for line in block.splitlines()]
    spans = re.findall(r"`([^`]+)`", fence.sub("", page))
    return [re.split(r"\s#\s", line)[0].strip() for line in blocks] + spans

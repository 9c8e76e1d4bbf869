"""Nothing grows too long to be read, and every module says what it is."""

import ast
from functools import cache
from pathlib import Path

from tests.repo.files import ROOT, tracked

FUNCTION_LINES_MAX = 70
MODULE_LINES_MAX = 500


@cache
def modules() -> dict[Path, ast.Module]:
    """Every Python file, parsed."""
    paths = (path for path in tracked() if path.suffix == ".py")
    return {path: ast.parse((ROOT / path).read_text(encoding="utf-8")) for path in paths}


def lines_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def long_functions(module: ast.Module) -> list[str]:
    """Functions over the budget, with their lengths."""
    return [
        f"{node.name} has {lines_of(node)} lines"
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and lines_of(node) > FUNCTION_LINES_MAX
    ]


def test_no_function_is_over_its_budget() -> None:
    over = {str(path): long_functions(module) for path, module in modules().items()}
    assert {path: names for path, names in over.items() if names} == {}


def test_no_module_is_over_its_budget() -> None:
    lines = {
        str(path): len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in modules()
    }
    assert {path: count for path, count in lines.items() if count > MODULE_LINES_MAX} == {}


def test_every_module_says_what_it_is() -> None:
    silent = [
        str(path) for path, module in modules().items() if module.body and not has_words(module)
    ]
    assert silent == []


def has_words(module: ast.Module) -> bool:
    return bool((ast.get_docstring(module) or "").strip())


def test_a_function_over_the_budget_is_found() -> None:
    body = "    pass\n" * FUNCTION_LINES_MAX
    assert long_functions(ast.parse(f"def short():\n{body[:-9]}")) == []
    assert long_functions(ast.parse(f"async def long():\n{body}")) == ["long has 71 lines"]

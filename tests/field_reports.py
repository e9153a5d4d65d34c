"""`python -m tests.field_reports` writes docs/field-reports.md: each case of a field report that a test answers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "field-reports.md"

_HEAD = """# Field reports and the tests that answer them

Faults that people reported of systems like this one, by their case, and the tests that show the right behaviour here.
Written by `python -m tests.field_reports` from the marker `@pytest.mark.field("…")`.

| case | test |
|---|---|
"""


def answered() -> Iterator[tuple[str, str, str]]:
    """Case, file and test, of every marked test."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for case in map(_case, node.decorator_list):
                    if case is not None:
                        yield case, str(path.relative_to(ROOT)), node.name


def _case(decorator: ast.expr) -> str | None:
    text = ast.unparse(decorator)
    found = re.fullmatch(r"pytest\.mark\.field\('(\w+)'\)", text)
    return None if found is None else found[1]


def _in_order(row: tuple[str, str, str]) -> tuple[str, int, str, str]:
    case, path, name = row
    letter, digits = re.fullmatch(r"(\D*)(\d*)", case).groups()
    return letter, int(digits or 0), path, name


def page() -> str:
    """The whole page."""
    rows = sorted(answered(), key=_in_order)
    return _HEAD + "".join(
        f"| {case} | [{name.removeprefix('test_').replace('_', ' ')}](../{path}) |\n" for case, path, name in rows
    )


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), "utf-8")

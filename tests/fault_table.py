"""`python -m tests.fault_table` writes docs/faults.md: each fault, what is right then, and the test that shows it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "faults.md"

_HEAD = """# Faults, and what is right then

Each row is shown by a test. Written by `python -m tests.fault_table` from the marker
`@pytest.mark.fault("what goes wrong", "what is right then")`.

| fault | outcome | test |
|---|---|---|
"""


def shown() -> Iterator[tuple[str, str, str, str]]:
    """Fault, outcome, file and test, of every marked test."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for decorator in node.decorator_list:
                    if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.fault":
                        what, outcome = (ast.literal_eval(one) for one in decorator.args)
                        yield what, outcome, str(path.relative_to(ROOT)), node.name


def page() -> str:
    """The whole page."""
    return _HEAD + "".join(
        f"| {what} | {outcome} | [{name.removeprefix('test_').replace('_', ' ')}](../{path}) |\n"
        for what, outcome, path, name in sorted(shown())
    )


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")

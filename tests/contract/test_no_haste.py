"""No test depends on how fast the machine is: none measures a time, and none gives up before a busy one is done."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]
CLOCKS = {"perf_counter", "perf_counter_ns", "process_time", "thread_time", "monotonic", "monotonic_ns"}
MAY_LOOK = {
    "waiting.py": "it is where everybody waits",
    "faults/fleet.py": "PostgreSQL must have lived for a while to be started again",
    "contract/test_compose.py": "it gives up after a hundred seconds",
    "acceptance/mem0_strands_client.py": "it runs in another environment, and gives up after a minute",
}
SOON = 20
"""Seconds: whoever gives up sooner than that gives up on a machine that is only busy."""


def haste(tree: ast.AST) -> Iterator[str]:
    """What looks at a clock, and what is given up soon."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name) if name in CLOCKS:
                yield f"line {node.lineno}: {name}"
            case ast.Call(func=ast.Attribute(attr="timeout"), args=[ast.Constant(value=int() | float() as seconds)]):
                if seconds < SOON:
                    yield f"line {node.lineno}: timeout({seconds})"
            case ast.Call(
                func=ast.Attribute(attr="wait_for"), args=[_, ast.Constant(value=int() | float() as seconds)]
            ):
                if seconds < SOON:
                    yield f"line {node.lineno}: wait_for(…, {seconds})"
            case ast.keyword(arg="timeout", value=ast.Constant(value=int() | float() as seconds)) if seconds < SOON:
                yield f"line {node.lineno}: timeout={seconds}"


def test_no_test_is_in_haste() -> None:
    paths = {str(path.relative_to(TESTS)): path for path in TESTS.rglob("*.py")}
    found = {
        name: told
        for name, path in paths.items()
        if name not in MAY_LOOK and (told := list(haste(ast.parse(path.read_text("utf-8")))))
    }

    assert found == {}
    assert set(MAY_LOOK) <= set(paths)

"""The growth of what one person's act costs with the memories of everybody, as an SVG: `bench/growth.svg`.

The points are kept in `bench/out/`, for the largest size is measured in a run of its own.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.report import OUT

_POINTS = OUT / "growth.json"
WHERE = Path(__file__).parent / "growth.svg"
_ACTS = ("list 50", "search", "add (verbatim)", "forget all of 200")
_WIDE, _HIGH, _GAP, _EDGE = 260, 200, 20, 46
_LEAST, _MOST = -1.0, 4.5
"""Powers of ten of a millisecond."""

Curve = Mapping[str, Mapping[int, tuple[float, float]]]
"""Of each act, at each number of memories: milliseconds of ours and of stock."""


def note(rows: int, acts: Mapping[str, tuple[float, float]]) -> None:
    """Keep what was measured at a size, in place of what was there."""
    OUT.mkdir(exist_ok=True)
    kept = json.loads(_POINTS.read_text("ascii")) if _POINTS.exists() else {}
    for act, both in acts.items():
        kept.setdefault(act, {})[str(rows)] = both
    _POINTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="ascii")


def _noted() -> Curve:
    kept = json.loads(_POINTS.read_text("ascii"))
    return {act: {int(rows): tuple(both) for rows, both in points.items()} for act, points in kept.items()}


def draw() -> None:
    """A panel for each act; both axes by powers of ten."""
    curve = _noted()
    sizes = sorted({rows for points in curve.values() for rows in points})
    if len(sizes) < 2:
        return
    panels = [act for act in _ACTS if act in curve]
    width, height = len(panels) * (_WIDE + _GAP) + _EDGE, _HIGH + 90
    body = [line for at, act in enumerate(panels) for line in _panel(at, act, curve[act], sizes)]
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif"'
        ' font-size="11" fill="#333">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        *body,
        f'<text x="{_EDGE}" y="{height - 12}">p50 in milliseconds, by the number of memories that everybody has:'
        ' <tspan fill="#0b7285">ours</tspan>, <tspan fill="#c92a2a">stock mem0 2.2.1</tspan></text>',
        "</svg>",
    )
    WHERE.write_text("\n".join(svg) + "\n", encoding="utf-8")


def _panel(at: int, act: str, points: Mapping[int, tuple[float, float]], sizes: list[int]) -> Iterator[str]:
    left, top = _EDGE + at * (_WIDE + _GAP), 30
    span = math.log10(sizes[-1] / sizes[0])

    def x(rows: int) -> float:
        return left + 14 + (_WIDE - 28) * math.log10(rows / sizes[0]) / span

    def y(ms: float) -> float:
        return top + _HIGH * (_MOST - math.log10(max(ms, 0.1))) / (_MOST - _LEAST)

    yield f'<text x="{left}" y="{top - 10}" font-weight="bold">{act}</text>'
    yield f'<rect x="{left}" y="{top}" width="{_WIDE}" height="{_HIGH}" fill="none" stroke="#ccc"/>'
    for power in range(math.ceil(_LEAST), math.floor(_MOST) + 1):
        line = y(10.0**power)
        yield f'<line x1="{left}" x2="{left + _WIDE}" y1="{line:.1f}" y2="{line:.1f}" stroke="#eee"/>'
        if at == 0:
            yield f'<text x="{left - 5}" y="{line + 4:.1f}" text-anchor="end">{10**power:g}</text>'
    for rows in sizes:
        yield f'<text x="{x(rows):.1f}" y="{top + _HIGH + 15}" text-anchor="middle">{rows:,}</text>'
    for side, colour in ((0, "#0b7285"), (1, "#c92a2a")):
        places = " ".join(f"{x(rows):.1f},{y(both[side]):.1f}" for rows, both in sorted(points.items()))
        yield f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="2"/>'
        for rows, both in sorted(points.items()):
            yield f'<circle cx="{x(rows):.1f}" cy="{y(both[side]):.1f}" r="3" fill="{colour}"/>'

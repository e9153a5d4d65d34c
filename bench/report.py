"""What a measurement found: tables, printed as Markdown and kept as JSON in `bench/out/`."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

OUT = Path(__file__).parent / "out"

Cell = str | float | None


@dataclass
class Table:
    """Rows under a title."""

    title: str
    columns: list[str]
    rows: list[list[Cell]] = field(default_factory=list)

    def add(self, *cells: Cell) -> None:
        self.rows.append(list(cells))

    def markdown(self) -> str:
        lines = [
            self.columns,
            ["---", *["---:"] * (len(self.columns) - 1)],
            *([_said(c) for c in r] for r in self.rows),
        ]
        return "\n".join([f"**{self.title}**", "", *("| " + " | ".join(line) + " |" for line in lines), ""])


def percentile(values: Sequence[float], share: int) -> float:
    return float(np.percentile(values, share))


def note_run(name: str, tables: Sequence[Table]) -> None:
    """Print the tables, and keep them with the machine, the time and the load they were made under."""
    about = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
        "load": [round(one, 1) for one in os.getloadavg()],
    }
    sys.stdout.write(f"\n{about['at']}, {about['machine']}, load {about['load']}\n\n")
    for table in tables:
        sys.stdout.write(table.markdown() + "\n")
    OUT.mkdir(exist_ok=True)
    found = {"about": about, "tables": [asdict(table) for table in tables]}
    (OUT / f"{name}.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _said(cell: Cell) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, str):
        return cell
    return f"{cell:,.0f}" if abs(cell) >= 100 else f"{cell:.3g}"

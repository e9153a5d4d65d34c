"""`python -m bench [PART …]`: run the measurements, and put what they found into `bench/README.md`.

Without a part: all of them, one after another. What a part prints is kept in `bench/out/PART.md`; the README shows the
last of each.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PARTS = ("stores", "million", "flat", "services", "local", "mcp", "chat", "hanging_llm")
_OF_TABLES = {"stores", "million", "flat", "services", "local"}
_HERE = Path(__file__).parent
_MARK = "<!-- What follows is written by `make bench`. -->\n"


def main(asked: list[str]) -> None:
    if strange := set(asked) - set(PARTS):
        raise SystemExit(f"{', '.join(sorted(strange))}: no part. There are {', '.join(PARTS)}.")
    (_HERE / "out").mkdir(exist_ok=True)
    for part in asked or PARTS:
        run(part)
        record()


def run(part: str) -> None:
    """One part in a process of its own; what it says is shown as it comes."""
    said: list[str] = []
    with subprocess.Popen([sys.executable, "-m", f"bench.{part}"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            sys.stdout.write(line)
            said.append(line)
    if process.returncode:
        raise SystemExit(f"bench.{part} ended with {process.returncode}.")
    (_HERE / "out" / f"{part}.md").write_text("".join(said), encoding="utf-8")


def record() -> None:
    """The README's second half: the last that each part found."""
    readme = _HERE / "README.md"
    kept = readme.read_text("utf-8").partition(_MARK)[0]
    found = [(part, _HERE / "out" / f"{part}.md") for part in PARTS]
    shown = [_section(part, path.read_text("utf-8").strip()) for part, path in found if path.exists()]
    readme.write_text(kept + _MARK + "\n" + "\n".join(shown), encoding="utf-8")


def _section(part: str, text: str) -> str:
    body = text if part in _OF_TABLES else f"```\n{text}\n```"
    return f"## {part}\n\n{body}\n"


if __name__ == "__main__":
    main(sys.argv[1:])

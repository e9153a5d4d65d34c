"""The page that is committed is what its source makes, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.typescript import installed, npm

BUILT = Path(__file__).parents[3] / "shared" / "page"


@pytest.mark.timeout(600)
def test_the_committed_page_is_what_its_source_makes(tmp_path: Path) -> None:
    package = installed("page")
    npm(package, "run", "--silent", "check")
    npm(package, "exec", "--", "node", "build.mjs", str(tmp_path))

    made = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    committed = {file.name: file.read_bytes() for file in BUILT.iterdir()}
    assert sorted(made) == sorted(committed)
    differing = [name for name in made if made[name] != committed[name]]
    assert differing == [], "Build it again: npm run build in clients/page"


def test_the_page_asks_no_other_host() -> None:
    for file in BUILT.iterdir():
        text = file.read_text("utf-8").replace("http://www.w3.org/2000/svg", "").replace("https://r1.datalayer.run", "")
        assert "://" not in text, file.name


def test_no_text_becomes_html() -> None:
    script = (BUILT / "app.js").read_text("utf-8")
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "eval(", "srcdoc"):
        assert way not in script

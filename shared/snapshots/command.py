"""`runtime-memory snapshot`: a person's snapshots as files."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from shared.snapshots.carrying import NotCarried, Service

_URL = "http://127.0.0.1:8766"


def snapshot_group(credential: Callable[[], Mapping[str, str]]) -> click.Group:
    """The commands; `credential` gives the headers that say who is calling."""

    @click.group()
    def snapshot() -> None:
        """Export all that is remembered of you to a file, or take such a file in.

        You are the person of the token in RUNTIME_MEMORY_TOKEN, or of the API key in RUNTIME_MEMORY_KEY.
        """

    @snapshot.command("export")
    @click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
    @click.option("--state", help="The snapshot's id; without it, one is saved now.")
    @click.option("--url", default=_URL, show_default=True, help="Where the platform, or a local runtime, is.")
    def export(file: Path, state: str | None, url: str) -> None:
        """Write a snapshot to FILE."""
        wanted = _run(Service(url, credential()).export(file, state))
        click.echo(f"{wanted} is in {file} ({file.stat().st_size} bytes).")

    @snapshot.command("import")
    @click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
    @click.option("--restore", is_flag=True, help="Also replace all that is remembered of you by it.")
    @click.option("--url", default=_URL, show_default=True, help="Where the platform, or a local runtime, is.")
    def take_in(file: Path, url: str, *, restore: bool) -> None:
        """Take FILE in as a snapshot."""
        said = _run(Service(url, credential()).take_in(file, restore=restore))
        click.echo(f"{said['id']} is taken in ({said['size']} bytes).")
        if "restored" in said:
            click.echo(f"{said['restored']['memories']} memories are restored.")

    return snapshot


def _run(carrying: Any) -> Any:
    try:
        return asyncio.run(carrying)
    except NotCarried as error:
        raise click.ClickException(str(error)) from None

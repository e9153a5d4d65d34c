"""`runtime-memory import`: what a stock mem0 client kept with FAISS, taken over into a local store."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shared.errors import CannotStartError

if TYPE_CHECKING:
    from shared.stores.local.importing import Imported

_DIRECTORY = click.Path(file_okay=False, path_type=Path)


@click.command("import")
@click.option("--from", "source", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--into", envvar="AGENT_RUNTIMES_MEM0_DIR", required=True, type=_DIRECTORY, help="The store's directory.")
@click.option("--dimensions", envvar="MEMORY_VECTOR_DIMENSIONS", default=384, show_default=True, help="Of its vectors.")
@click.option("--dry-run", is_flag=True, help="Only count.")
def import_command(source: Path, into: Path, dimensions: int, *, dry_run: bool) -> None:
    """Take over, once, the memories of a directory that a stock mem0 client wrote. Its files stay as they are.

    The runtime that uses the directory must be stopped: one process owns it.
    """
    try:
        done = asyncio.run(_import(source, into, dimensions, dry_run=dry_run))
    except ModuleNotFoundError as error:
        raise click.ClickException("FAISS is not installed here: install runtime-memory[runtime].") from error
    except CannotStartError as error:
        raise click.ClickException(str(error)) from None
    click.echo(said(done, dry_run=dry_run))


async def _import(source: Path, into: Path, dimensions: int, *, dry_run: bool) -> Imported:
    # Imported here: FAISS takes a while, and the other commands run where it is not installed.
    from shared.stores.local.store import LocalStore  # noqa: PLC0415

    store = await LocalStore.open(into, dimensions=dimensions)
    try:
        return await store.import_stock(source, dry_run=dry_run)
    finally:
        await store.close()


def said(done: Imported, *, dry_run: bool) -> str:
    """An import in sentences."""
    if not done.collections:
        return "There is no <name>.faiss beside a <name>.json or <name>.pkl: nothing to import."
    lines = [
        f"{', '.join(done.collections)}: {done.found} memories, {done.imported}"
        f" {'would be' if dry_run else 'were'} imported.",
        f"{done.known} are known already (imported before, or forgotten since)." if done.known else "",
        f"{done.ownerless} have no person and application: they are nobody's, and stay." if done.ownerless else "",
        f"{done.unusable} have no words that can be kept." if done.unusable else "",
        f"{done.without_vector} come without a vector of this embedder: they are found by their words."
        if done.without_vector
        else "",
    ]
    return "\n".join(line for line in lines if line)

"""`runtime-memory adopt`: take over a memory table that a stock mem0 client or an earlier release made."""

from __future__ import annotations

import asyncio

import asyncpg
import click

from shared.db import adopting
from shared.db.adopting import Estimate
from shared.errors import CannotStartError
from shared.settings import Settings


@click.command()
@click.option("--yes", is_flag=True, help="Do it without asking.")
@click.option("--dry-run", is_flag=True, help="Only say what it will take.")
def adopt(*, yes: bool, dry_run: bool) -> None:
    """Take over a large memory table of a stock mem0 client or an earlier release: say what it will take, then do it.

    It rewrites the table; reads and writes wait meanwhile. Where PostgreSQL is, and which table, the settings of the
    services say.
    """
    try:
        asyncio.run(_adopt(yes=yes, dry_run=dry_run))
    except CannotStartError as error:
        raise click.ClickException(str(error)) from None
    except (OSError, asyncpg.PostgresError) as error:
        raise click.ClickException(f"PostgreSQL did not do it ({type(error).__name__}): nothing was changed.") from None


async def _adopt(*, yes: bool, dry_run: bool) -> None:
    settings = Settings.read()
    dsn = settings.dsn()
    if dsn is None:
        raise CannotStartError("DATALAYER_POSTGRESQL_AGENT_MEMORIES_URI (or _HOST) is missing: where is PostgreSQL?")
    connection = await asyncpg.connect(dsn, timeout=10)
    try:
        found = await adopting.estimate(connection, settings.collection)
        click.echo(_said(settings.collection_name, found))
        if found.ours or dry_run or not (yes or click.confirm("Take it over now?")):
            return
        await adopting.adopt(connection, settings.collection, settings.dimensions)
        click.echo("Done: the services can start.")
    finally:
        await connection.close(timeout=10)


def _said(name: str, found: Estimate) -> str:
    if found.ours:
        return f"The table {name} is ours already: there is nothing to do."
    indexes = f" {len(found.vector_indexes)} vector index(es) are dropped first." if found.vector_indexes else ""
    return (
        f"The table {name} has {found.rows} memories, {found.bytes // 2**20} MiB.{indexes} Taking it over rewrites it:"
        f" about {found.seconds} s in which reads and writes wait, and as much free disk again."
    )

"""`runtime-memory re-embed`: give every memory a vector of the embedder that is configured now."""

from __future__ import annotations

import asyncio

import asyncpg
import click

from runtime_svc.engine.embedder import MiniLM
from runtime_svc.engine.entities import Mem0Entities
from runtime_svc.engine.provider_embedder import ProviderEmbedder
from runtime_svc.learning_resource import engine_config
from runtime_svc.settings import RuntimeSettings
from shared.db import widening
from shared.db.pool import Database
from shared.errors import CannotStartError, ServiceError
from shared.maintaining import refresh_some
from shared.stores.pg.maintenance import PostgresMaintenance
from shared.stores.ports import Embedder


@click.command("re-embed")
@click.option("--all", "everything", is_flag=True, help="Also those that have a vector of the same width.")
def re_embed(*, everything: bool) -> None:
    """Make vectors again after the embedder was changed; while it runs memories are read, and found by their words.

    Stopped at any moment, it goes on where it was when called again. A vector column of another width is made anew.
    """
    try:
        asyncio.run(_re_embed(everything=everything))
    except (CannotStartError, ServiceError) as error:
        raise click.ClickException(str(error)) from None
    except (OSError, asyncpg.PostgresError) as error:
        raise click.ClickException(f"PostgreSQL did not do it ({type(error).__name__}). Call it again.") from None


async def _re_embed(*, everything: bool) -> None:
    settings = RuntimeSettings.read()
    dsn = settings.dsn()
    if dsn is None:
        raise CannotStartError("DATALAYER_POSTGRESQL_AGENT_MEMORIES_URI (or _HOST) is missing: where is PostgreSQL?")
    engine = engine_config(settings)
    model = await (MiniLM.open() if engine.embedder is None else ProviderEmbedder.open(engine.embedder))
    try:
        connection = await asyncpg.connect(dsn, timeout=10)
        try:
            await widening.widen(connection, settings.collection, model.dimensions)
            await widening.take_up(connection)
            if everything:
                await widening.mark_all(connection, settings.collection)
        finally:
            await connection.close(timeout=10)
        await _work_off(settings, dsn, model)
    finally:
        await model.close()


async def _work_off(settings: RuntimeSettings, dsn: str, model: Embedder) -> None:
    """Until nothing is stale; where entities are asked for, what is embedded again says which ones it names."""
    entities = await Mem0Entities.open() if settings.entities else None
    database = Database(dsn, settings.limits)
    await database.open()
    try:
        maintenance, done, refused, after = PostgresMaintenance(database, settings.collection), 0, 0, ""
        while True:
            step = await refresh_some(maintenance, model, entities, after=after)
            done, refused, after = done + step.found, refused + step.set_aside, step.after
            click.echo(f"\r{done} memories", nl=False)
            if not after:
                break
        click.echo(f"\nDone, but for {refused} that the embedder refuses." if refused else "\nDone.")
    finally:
        await database.close()
        if entities is not None:
            await entities.close()


if __name__ == "__main__":  # where only the files are, as in the images, no distribution brings the command
    re_embed()

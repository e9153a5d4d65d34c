"""`runtime-memory re-embed`: give every memory a vector of the embedder that is configured now."""

from __future__ import annotations

import asyncio

import asyncpg
import click

from runtime_svc.engine.embedder import MiniLM
from runtime_svc.engine.entities import Mem0Entities
from runtime_svc.engine.provider_embedder import ProviderEmbedder
from runtime_svc.keeping import keeps_locally
from runtime_svc.learning_resource import engine_config
from runtime_svc.settings import RuntimeSettings
from shared.db import widening
from shared.db.pool import Database
from shared.errors import CannotStartError, ServiceError
from shared.maintaining import refresh_some
from shared.stores.maintenance import Maintenance
from shared.stores.pg.maintenance import PostgresMaintenance
from shared.stores.ports import Embedder


@click.command("re-embed")
@click.option("--all", "everything", is_flag=True, help="Also those that have a vector of the same width.")
def re_embed(*, everything: bool) -> None:
    """Make vectors again after the embedder was changed.

    Stopped at any moment, it goes on where it was when called again. In PostgreSQL memories are read meanwhile, and
    found by their words; a vector column of another width is made anew. The runtime that owns a local store's
    directory is to be stopped first.
    """
    try:
        asyncio.run(_re_embed(everything=everything))
    except (CannotStartError, ServiceError) as error:
        raise click.ClickException(str(error)) from None
    except (OSError, asyncpg.PostgresError) as error:
        raise click.ClickException(f"The store did not do it ({type(error).__name__}). Call it again.") from None


async def _re_embed(*, everything: bool) -> None:
    settings = RuntimeSettings.read()
    dsn = settings.dsn()
    engine = engine_config(settings)
    model = await (MiniLM.open() if engine.embedder is None else ProviderEmbedder.open(engine.embedder))
    try:
        if dsn is None or keeps_locally(settings, dsn):
            await _locally(settings, model, everything=everything)
        else:
            await _in_postgres(settings, dsn, model, everything=everything)
    finally:
        await model.close()


async def _in_postgres(settings: RuntimeSettings, dsn: str, model: Embedder, *, everything: bool) -> None:
    connection = await asyncpg.connect(dsn, timeout=10)
    try:
        await widening.widen(connection, settings.collection, model.dimensions)
        await widening.take_up(connection)
        if everything:
            await widening.mark_all(connection, settings.collection)
    finally:
        await connection.close(timeout=10)
    database = Database(dsn, settings.limits)
    await database.open()
    try:
        await _work_off(settings, PostgresMaintenance(database, settings.collection), model)
    finally:
        await database.close()


async def _locally(settings: RuntimeSettings, model: Embedder, *, everything: bool) -> None:
    # Imported here: FAISS takes a while, and PostgreSQL never needs it.
    from shared.stores.local.maintenance import LocalMaintenance  # noqa: PLC0415
    from shared.stores.local.store import LocalStore  # noqa: PLC0415
    from shared.stores.local.widening import widen  # noqa: PLC0415

    await widen(settings.directory, model.dimensions, everything=everything)
    store = await LocalStore.open(settings.directory, dimensions=model.dimensions)
    try:
        await _work_off(settings, LocalMaintenance(store.database, dimensions=model.dimensions), model)
    finally:
        await store.close()


async def _work_off(settings: RuntimeSettings, maintenance: Maintenance, model: Embedder) -> None:
    """Until nothing is stale; where entities are asked for, what is embedded again says which ones it names."""
    entities = await Mem0Entities.open() if settings.entities else None
    done, refused, after = 0, 0, ""
    try:
        while True:
            step = await refresh_some(maintenance, model, entities, after=after)
            done, refused, after = done + step.found, refused + step.set_aside, step.after
            click.echo(f"\r{done} memories", nl=False)
            if not after:
                break
        click.echo(f"\nDone, but for {refused} that the embedder refuses." if refused else "\nDone.")
    finally:
        if entities is not None:
            await entities.close()


if __name__ == "__main__":  # where only the files are, as in the images, no distribution brings the command
    re_embed()

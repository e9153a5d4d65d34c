"""`runtime-memory key`: API keys as an operator makes them, also with scopes that nobody gives themselves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import click

from shared.api_keys import SCOPES, ApiKey, ApiKeys, digest_of, new_key
from shared.db.pool import Database
from shared.db.preparing import prepare
from shared.errors import CannotStartError, ServiceError
from shared.scope import PREFIX, application_key, application_of, person_uid
from shared.settings import Settings

_DIRECTORY = click.Path(file_okay=False, path_type=Path)


@click.group()
def key() -> None:
    """API keys, kept where the services keep them: the settings of PostgreSQL, or a directory."""


@key.command()
@click.option("--owner", required=True, help="The person whose key it is.")
@click.option("--name", default="made by an operator", show_default=True, help="What it is for.")
@click.option("--application", help="The one application it is bound to.")
@click.option("--all-applications", is_flag=True, help="It reaches all of the owner's applications.")
@click.option("--scope", "scopes", multiple=True, type=click.Choice(sorted(SCOPES)), help="What it may beyond that.")
@click.option("--expires-at", type=click.DateTime(), help="When it ends (UTC).")
@click.option("--directory", type=_DIRECTORY, help="The directory of a local store, while no runtime uses it.")
@click.option("--embedded", type=_DIRECTORY, help="The directory of an embedded PostgreSQL.")
def create(  # noqa: PLR0917 (click passes options by name)
    owner: str,
    name: str,
    application: str | None,
    all_applications: bool,  # noqa: FBT001 (as above)
    scopes: tuple[str, ...],
    expires_at: datetime | None,
    directory: Path | None,
    embedded: Path | None,
) -> None:
    """Make a key and print it, once."""
    if (application is None) == (not all_applications):
        raise click.ClickException("Say --application, or --all-applications.")
    try:
        record, text = new_key(
            person_uid(owner),
            name,
            application=None if application is None else _application(application),
            scopes=frozenset(scopes),
            expires_at=None if expires_at is None else expires_at.replace(tzinfo=UTC),
        )
        asyncio.run(_keep(record, text, directory, embedded))
    except ServiceError as error:
        raise click.ClickException(error.sentence) from None
    except CannotStartError as error:
        raise click.ClickException(str(error)) from None
    click.echo(text)


def _application(named: str) -> str:
    return application_key(named) if named.startswith(PREFIX) else application_of(named)


async def _keep(record: ApiKey, text: str, directory: Path | None, embedded: Path | None) -> None:
    async with _in_directory(directory) if directory is not None else _in_postgres(embedded) as keys:
        await keys.keep(record, digest_of(text))


@asynccontextmanager
async def _in_directory(directory: Path) -> AsyncIterator[ApiKeys]:
    # Imported here: FAISS takes a while, and PostgreSQL never needs it.
    from shared.stores.local.store import LocalStore  # noqa: PLC0415

    store = await LocalStore.open(directory, dimensions=Settings.read().dimensions)
    try:
        yield store.api_keys
    finally:
        await store.close()


@asynccontextmanager
async def _in_postgres(embedded: Path | None) -> AsyncIterator[ApiKeys]:
    from shared.stores.pg.api_keys import PostgresApiKeys  # noqa: PLC0415 (as above, the other way round)

    settings = Settings.read()
    async with AsyncExitStack() as held:
        dsn = settings.dsn()
        if embedded is not None:
            from shared.db.embedded import embedded as server  # noqa: PLC0415 (an extra of its own)

            dsn = (await held.enter_async_context(server(embedded))).dsn
        if dsn is None:
            raise CannotStartError("Where are keys kept? Configure PostgreSQL, or say --directory or --embedded.")
        await prepare(
            dsn,
            settings.collection,
            settings.dimensions,
            with_ddl=settings.migrate,
            row_security=settings.row_security,
        )
        database = Database(dsn)
        await database.open()
        held.push_async_callback(database.close)
        yield PostgresApiKeys(database)

"""`python -m runtime_svc`: serve one runtime."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import click
from aiohttp import web

from runtime_svc.app import create_app
from runtime_svc.keeping import for_this_machine
from runtime_svc.settings import RuntimeSettings
from shared.http.serve import hold_embedded, run
from shared.logs import configure


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8765, show_default=True, type=click.IntRange(1, 65535), help="The port.")
@click.option(
    "--embedded",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep PostgreSQL in this directory, shared with every process that names it.",
)
def main(host: str, port: int, embedded: Path | None) -> None:
    """Serve the memory API of one runtime."""
    configure("runtime")

    async def make(held: AsyncExitStack) -> web.Application:
        settings = for_this_machine(RuntimeSettings.read(), host, embedded=embedded is not None)
        dsn = None if embedded is None else await hold_embedded(held, embedded)
        return create_app(settings, dsn=dsn)

    run(make, host=host, port=port)


if __name__ == "__main__":
    main()

"""The `runtime-memory` command."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from importlib.metadata import entry_points
from typing import cast

import click

from shared.adopt_command import adopt
from shared.errors import BadValue, CannotStartError
from shared.key_command import key
from shared.mcp_pipe import Pipe, endpoint
from shared.settings import Settings
from shared.snapshots.command import snapshot_group
from shared.stores.local.command import import_command
from shared.verifier import issue

_BROUGHT = "runtime_memory.commands"


class _Commands(click.Group):
    """Ours, and those that an installed service brings (`runtime_memory.commands` in its distribution)."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *entry_points(group=_BROUGHT).names})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        for entry in entry_points(group=_BROUGHT, name=cmd_name):
            with contextlib.suppress(ModuleNotFoundError):  # installed without what the service needs
                return cast("click.Command", entry.load())
        return super().get_command(ctx, cmd_name)


@click.group(cls=_Commands)
def main() -> None:
    """What an application remembers of each person: development and operations."""


main.add_command(key)
main.add_command(adopt)


@main.command()
@click.option("--uid", required=True, help="The person whom the token signs in.")
@click.option("--ttl", default=3600, show_default=True, type=click.IntRange(1, 31_536_000), help="Seconds it holds.")
def token(uid: str, ttl: int) -> None:
    """Print a development token, signed with MEMORY_JWT_SECRET."""
    try:
        secret = Settings.read().jwt_secret
        if secret is None:
            raise click.ClickException("MEMORY_JWT_SECRET is missing: what is the token to be signed with?")
        click.echo(issue(secret.get_secret_value(), uid, ttl))
    except (CannotStartError, ValueError) as error:
        raise click.ClickException(str(error)) from None


@main.command()
@click.option("--app", required=True, help="The application whose memory is used, by its uid.")
@click.option("--url", default="http://127.0.0.1:8765", show_default=True, help="Where the runtime service is.")
def mcp(app: str, url: str) -> None:
    """Speak MCP over standard input and output, for desktop clients, to a running service.

    The person is the one of the token in RUNTIME_MEMORY_TOKEN, or of the API key in RUNTIME_MEMORY_KEY.
    """
    try:
        pipe = Pipe(endpoint(url, app), _credential(), heard=sys.stdin.buffer, told=sys.stdout.buffer)
    except BadValue as error:
        raise click.ClickException(error.sentence) from None
    # It holds nothing: a client's signal ends it at once, also while it waits for a line.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        asyncio.run(pipe.carry())
    except* BrokenPipeError:
        raise SystemExit(0) from None


def _credential() -> dict[str, str]:
    bearer, key = os.environ.get("RUNTIME_MEMORY_TOKEN"), os.environ.get("RUNTIME_MEMORY_KEY")
    if bearer and key:
        raise click.ClickException("RUNTIME_MEMORY_TOKEN and RUNTIME_MEMORY_KEY are both set: set one.")
    if bearer:
        return {"Authorization": f"Bearer {bearer}"}
    return {"X-API-Key": key} if key else {}


main.add_command(snapshot_group(_credential))
main.add_command(import_command)

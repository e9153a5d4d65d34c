"""The `runtime-memory` command."""

from __future__ import annotations

import os

import click

from shared.verifier import issue


@click.group()
def main() -> None:
    """What an application remembers of each person: development and operations."""


@main.command()
@click.option("--uid", required=True, help="The person whom the token signs in.")
@click.option("--ttl", default=3600, show_default=True, type=click.IntRange(1, 31_536_000), help="Seconds it holds.")
def token(uid: str, ttl: int) -> None:
    """Print a development token, signed with MEMORY_JWT_SECRET."""
    secret = os.environ.get("MEMORY_JWT_SECRET")
    if secret is None:
        raise click.ClickException("MEMORY_JWT_SECRET is missing: what is the token to be signed with?")
    try:
        click.echo(issue(secret, uid, ttl))
    except ValueError as error:
        raise click.ClickException(str(error)) from None

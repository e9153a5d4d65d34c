"""What `make run` starts: both services on one embedded PostgreSQL, for one developer on one machine."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import click

from shared.db.embedded import embedded
from shared.errors import CannotStartError
from shared.kept_secret import kept_secret
from shared.verifier import issue

READY_WITHIN = 60.0
STOP_WITHIN = 45.0
"""Seconds that a service may take to finish its requests before it is killed."""
TOKEN_LASTS = 12 * 3600
PERSON = "dev"


@dataclass(frozen=True, slots=True)
class Development:
    """Where things are: the directory that keeps them, and the ports."""

    home: Path
    runtime_port: int
    platform_port: int

    @property
    def postgres(self) -> Path:
        """The embedded server's directory, the same for both services."""
        return self.home / "postgres"

    @property
    def runtime(self) -> str:
        """Where the runtime service answers."""
        return f"http://127.0.0.1:{self.runtime_port}"

    @property
    def platform(self) -> str:
        """Where the platform service answers."""
        return f"http://127.0.0.1:{self.platform_port}"

    def settings(self) -> dict[str, str]:
        """The services' environment: the caller's, and what it does not say."""
        ours = {
            "MEMORY_JWT_SECRET": kept_secret(self.home / "jwt-secret"),
            "RUNTIME_MACHINE_TOKEN": kept_secret(self.home / "machine-token"),
            "DATALAYER_USER_UID": PERSON,
            "DATALAYER_RUNTIMES_URL": self.platform,
            "AGENT_RUNTIMES_MEM0_DIR": str(self.home / "local"),
        }
        return ours | dict(os.environ)


def greeting(development: Development, settings: dict[str, str]) -> str:
    """A token and lines to try."""
    token = issue(settings["MEMORY_JWT_SECRET"], PERSON, TOKEN_LASTS)
    memories = f"{development.runtime}/api/v1/apps/memories/diary"
    call = 'curl -s -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json"'
    return "\n".join(
        [
            "",
            f"The runtime answers at {development.runtime}, the platform at {development.platform}. Ctrl-C stops both.",
            f"The memory page is {development.platform}/memories: sign in there with the token.",
            f'A token for the person "{PERSON}" for twelve hours, then lines to try:',
            "",
            f"TOKEN={token}",
            f"""{call} {memories} -d '{{"memory": "I am vegetarian and avoid gluten", "wait": true}}'""",
            f"""{call} {memories}/recall -d '{{"query": "dietary preferences"}}'""",
            f"{call} {memories}",
            f"{call} '{development.platform}/api/runtimes/v1/memories?agent_id=app:diary'",
            f"{call} -X DELETE '{memories}?count=1'",
            "",
        ]
    )


def refuse_taken(*ports: int) -> None:
    """Raises CannotStartError for a port that somebody listens on: who answers there would be taken for ours."""
    for port in ports:
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind(("127.0.0.1", port))
            except OSError:
                raise CannotStartError(
                    f"Port {port} is taken; --runtime-port and --platform-port choose others"
                    " (make run ARGS='--runtime-port 9765 --platform-port 9766')."
                ) from None


@contextlib.asynccontextmanager
async def service(
    name: str, port: int, development: Development, settings: dict[str, str]
) -> AsyncIterator[asyncio.Task[int]]:
    """A service as a child process. Leaving the block asks it to stop and waits until it has."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", name, "--host", "127.0.0.1", "--port", str(port), "--embedded", str(development.postgres)),
        env=settings,
        start_new_session=True,  # the terminal's Ctrl-C reaches us alone, and each child gets one signal, from us
    )
    ended = asyncio.create_task(process.wait(), name=name)
    try:
        yield ended
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(asyncio.shield(ended), STOP_WITHIN)
        except TimeoutError:
            process.kill()
            await ended


async def ready(url: str) -> None:
    """Return when the service at this address takes work."""
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as session:
        while True:
            with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                async with session.get(f"{url}/readyz") as response:
                    if response.status == 200:
                        return
            await asyncio.sleep(0.1)


async def serve(development: Development) -> None:
    """Run both services until SIGINT, SIGTERM or SIGHUP, or until one of them ends."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    stopped = asyncio.create_task(stop.wait())
    refuse_taken(development.runtime_port, development.platform_port)
    settings = await asyncio.to_thread(development.settings)
    async with (
        embedded(development.postgres),
        service("runtimes_svc", development.platform_port, development, settings) as platform,
        service("runtime_svc", development.runtime_port, development, settings) as runtime,
    ):
        both_ready = asyncio.create_task(both(development))
        await first_of(both_ready, platform, runtime, stopped)
        if both_ready.done() and not stopped.done():
            both_ready.result()
            click.echo(greeting(development, settings))
            await first_of(platform, runtime, stopped)
        both_ready.cancel()
        for ended in (platform, runtime):
            if ended.done() and not stopped.done():
                raise CannotStartError(
                    f"{ended.get_name()} ended by itself ({ended.result()}); its last lines stand above."
                )


async def both(development: Development) -> None:
    """Return when both services take work. Raises CannotStartError when they do not in time."""
    try:
        async with asyncio.timeout(READY_WITHIN):
            await asyncio.gather(ready(development.platform), ready(development.runtime))
    except TimeoutError:
        raise CannotStartError(f"The services are not ready after {READY_WITHIN:.0f} seconds.") from None


async def first_of(*tasks: asyncio.Task[object]) -> None:
    """Return when one of these is done."""
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)


@click.command()
@click.option("--directory", default=".run", show_default=True, type=click.Path(file_okay=False, path_type=Path))
@click.option("--runtime-port", default=8765, show_default=True, type=click.IntRange(1, 65535))
@click.option("--platform-port", default=8766, show_default=True, type=click.IntRange(1, 65535))
def main(directory: Path, runtime_port: int, platform_port: int) -> None:
    """Start both services on loopback, with a development secret made once, until Ctrl-C."""
    home = directory.resolve()
    home.mkdir(parents=True, exist_ok=True)
    try:
        asyncio.run(serve(Development(home, runtime_port, platform_port)))
    except CannotStartError as error:
        raise click.ClickException(str(error)) from None


if __name__ == "__main__":
    main()

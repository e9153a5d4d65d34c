"""`make run`: what it starts works as printed, and nothing of it is left after Ctrl-C."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import urllib.request
from pathlib import Path

import pytest

from shared.db.keeper import occupants
from tests.ports import free_port
from tests.services import PATIENT

REPOSITORY = Path(__file__).parents[2]
OURS = ("DATALAYER_", "AGENT_RUNTIMES_", "MEMORY_", "RUNTIME_", "OPENROUTER_", "OPENAI_", "MEM0_")


@pytest.fixture
def home():
    path = Path(tempfile.mkdtemp(prefix="rm-run-"))
    yield path
    shutil.rmtree(path)


@pytest.fixture
def run(home):
    """Start it in a process group of its own, as a terminal does; the lines it prints until the last to try."""
    started = []
    environment = {name: value for name, value in os.environ.items() if not name.startswith(OURS)} | PATIENT

    def start():
        ports = [("--runtime-port", free_port()), ("--platform-port", free_port())]
        options = [str(part) for option in ports for part in option]
        process = subprocess.Popen(
            [sys.executable, "-m", "shared.development", "--directory", home, *options],
            cwd=REPOSITORY,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        lines = []
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            if "-X DELETE" in line:
                return process, lines
        raise AssertionError("\n".join(lines))

    yield start
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        process.communicate(timeout=60)


def test_the_printed_lines_work_and_ctrl_c_leaves_nothing_running(run, home):
    process, lines = run()
    token = next(line.removeprefix("TOKEN=") for line in lines if line.startswith("TOKEN="))
    learned, recalled, listed, on_the_platform, forgotten = (
        say(line, token) for line in lines if line.startswith("curl")
    )

    words = "I am vegetarian and avoid gluten"
    assert [memory["memory"] for memory in learned["results"]] == [words]
    assert words in recalled["context"]
    assert [memory["memory"] for memory in listed["memories"]] == [words]
    assert [memory["memory"] for memory in on_the_platform["memories"]] == [words]
    assert forgotten["forgotten"] == 1

    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert occupants(home / "postgres" / "data") == []
    assert not anything_runs(home)


def test_the_secrets_are_made_once_and_only_their_owner_reads_them(run, home):
    seen = []
    for _ in range(2):
        process, _ = run()
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate(timeout=60)
        seen.append([(home / name).read_text() for name in ("jwt-secret", "machine-token")])

    assert seen[0] == seen[1]
    assert all(stat.S_IMODE((home / name).stat().st_mode) == 0o600 for name in ("jwt-secret", "machine-token"))


def test_a_service_that_ends_by_itself_ends_the_other_and_is_named(run, home):
    process, _ = run()
    os.kill(pid_of("runtime_svc", home), signal.SIGKILL)

    timer = threading.Timer(60, process.kill)
    timer.start()
    rest, _ = process.communicate()
    timer.cancel()

    assert process.returncode == 1
    assert "runtime_svc ended by itself" in rest
    assert not anything_runs(home)


def say(line, token):
    """Send what a printed curl line says."""
    words = iter(shlex.split(line.replace("$TOKEN", token)))
    request = urllib.request.Request("http://nowhere")
    for word in words:
        if word == "-H":
            request.add_header(*next(words).split(": ", 1))
        elif word == "-d":
            request.data = next(words).encode()
        elif word == "-X":
            request.method = next(words)
        elif word.startswith("http"):
            request.full_url = word
    with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310 - the printed lines say http
        return json.load(response)


def commands(home):
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if any(str(home) in part for part in command):
            yield int(entry.name), command


def anything_runs(home):
    return list(commands(home))


def pid_of(service, home):
    return next(pid for pid, command in commands(home) if service in command)


def test_a_port_that_somebody_else_answers_at_is_refused_before_anything_starts(home):
    with socket.create_server(("127.0.0.1", 0)) as somebody:
        taken = str(somebody.getsockname()[1])
        options = ["--directory", home, "--runtime-port", str(free_port()), "--platform-port", taken]
        command = [sys.executable, "-m", "shared.development", *options]
        ended = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)

    assert ended.returncode == 1
    assert f"Port {taken} is taken" in ended.stderr
    assert "TOKEN=" not in ended.stdout
    assert not (home / "postgres").exists()

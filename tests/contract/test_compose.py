"""The deployment: compose.yaml is what the compose specification knows, and what it says starts and becomes healthy."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import asyncpg
import pytest
import yaml

from shared.db.embedded import EmbeddedServer, embedded
from shared.db.programs import installed
from tests.ports import free_port

REPOSITORY = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((REPOSITORY / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]
OURS = [name for name, service in SERVICES.items() if "build" in service]
SECRET = "for-tests-only-" + "0123456789abcdef" * 2


def test_the_file_is_what_the_compose_specification_allows():
    checker = Path(sys.executable).with_name("check-jsonschema")
    checked = subprocess.run(
        [checker, "--builtin-schema", "vendor.compose-spec", "compose.yaml"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )

    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_both_services_and_the_database_are_there():
    assert set(SERVICES) == {"postgres", "platform", "runtime"}
    assert SERVICES["postgres"]["image"].startswith("pgvector/pgvector:")


@pytest.mark.parametrize("name", list(SERVICES))
def test_every_container_is_healthy_only_when_it_answers_and_has_few_rights(name):
    service = SERVICES[name]

    assert service["healthcheck"]["test"][0] == "CMD"
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in service


@pytest.mark.parametrize("name", OURS)
def test_a_service_waits_for_a_healthy_database_and_listens_on_loopback_only(name):
    assert SERVICES[name]["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    assert all(port.startswith("127.0.0.1:") for port in SERVICES[name]["ports"])


def test_no_secret_stands_in_the_file():
    for service in SERVICES.values():
        for name, value in service["environment"].items():
            if re.search("SECRET|TOKEN|PASSWORD|KEY", name):
                assert name.endswith("_FILE"), name
                assert value.removeprefix("/run/secrets/") in service["secrets"]
    assert all(set(secret) == {"file"} for secret in COMPOSE["secrets"].values())


@pytest.mark.parametrize("name", OURS)
def test_the_image_runs_as_a_plain_user_with_the_same_command(name):
    stages = re.split(r"^FROM .* AS ", (REPOSITORY / "Dockerfile").read_text(), flags=re.MULTILINE)
    (stage,) = [stage for stage in stages if stage.startswith(SERVICES[name]["build"]["target"] + "\n")]
    copied = re.findall(r"^COPY (\S+) ", stage, flags=re.MULTILINE)
    command = ", ".join(f'"{part}"' for part in SERVICES[name]["command"])

    assert "\nUSER 10001\n" in stage
    assert f"CMD [{command}]" in stage
    assert all((REPOSITORY / path).exists() for path in copied)


def test_only_what_the_images_need_is_sent_to_the_builder():
    lines = (REPOSITORY / ".dockerignore").read_text().split()
    sent = {line.removeprefix("!") for line in lines if line.startswith("!")}

    assert lines[0] == "*"
    assert sent == {"requirements/*.lock", "shared", "runtime_svc", "runtimes_svc"}


@pytest.fixture
async def deployed():
    """A database that only the deployment's own script has furnished, and the secrets as files."""
    home = Path(tempfile.mkdtemp(prefix="rm-compose-"))
    (home / "postgres-password").write_text('it\'s "a" pass$word\n')
    for name in ("jwt-secret", "machine-token"):
        (home / name).write_text(SECRET + "\n")
    async with embedded(home / "pg", durable=False) as server:
        admin = await asyncpg.connect(server.admin_dsn)
        await admin.execute("DROP DATABASE runtime_memory")
        await admin.execute("DROP ROLE runtime_memory")
        await admin.close()
        subprocess.run(
            ["sh", REPOSITORY / "deploy" / "postgres-init.sh"],
            env={
                "PATH": f"{installed()}:{os.environ['PATH']}",
                "PGHOST": str(server.socket_dir),
                "POSTGRES_USER": SERVICES["postgres"]["environment"]["POSTGRES_USER"],
                "SERVICE_PASSWORD_FILE": str(home / "postgres-password"),
            },
            check=True,
            capture_output=True,
        )
        yield home, server
    shutil.rmtree(home)


async def test_the_database_script_makes_a_plain_role_with_its_password(deployed):
    _, server = deployed
    inside = await asyncpg.connect(server.dsn)
    extension = await inside.fetchval("SELECT count(*) FROM pg_extension WHERE extname = 'vector'")
    await inside.close()
    admin = await asyncpg.connect(server.admin_dsn)
    role = await admin.fetchrow(
        "SELECT rolsuper, rolbypassrls, rolpassword FROM pg_authid WHERE rolname = $1", "runtime_memory"
    )
    await admin.close()

    assert extension == 1
    assert (role["rolsuper"], role["rolbypassrls"]) == (False, False)
    assert role["rolpassword"].startswith("SCRAM-SHA-256$")


@pytest.mark.parametrize("name", OURS)
async def test_what_a_service_s_command_says_starts_and_its_health_check_passes(deployed, name):
    home, server = deployed
    environment = environment_of(name, home, server)
    port = free_port()
    command = as_here(SERVICES[name]["command"], port)
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=REPOSITORY, env=environment, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 100
        while not healthy(name, port):
            assert process.poll() is None, (home / "log").read_text()
            assert time.monotonic() < deadline, (home / "log").read_text()
    finally:
        process.terminate()
        process.wait(60)

    assert process.returncode == 0
    assert SECRET not in (home / "log").read_text()


def environment_of(name: str, home: Path, server: EmbeddedServer) -> dict[str, str]:
    """What the container is given; the database's address and the secrets' directory are this machine's."""
    given = {key: value.replace("/run/secrets", str(home)) for key, value in SERVICES[name]["environment"].items()}
    given = {
        key: re.sub(r"\$\{\w+:\?.*\}", "owner-1", re.sub(r"\$\{\w+:-\}", "", value)) for key, value in given.items()
    }
    given["AGENT_RUNTIMES_MEM0_DIR"] = str(home / "mem0")
    given["HOME"] = "/nonexistent"
    return given | {"DATALAYER_POSTGRESQL_AGENT_MEMORIES_URI": server.dsn}


def as_here(command: list[str], port: int) -> list[str]:
    """The container's command on this machine: its interpreter, loopback, a free port."""
    replaced = [re.sub(r"\b876[56]\b", str(port), part).replace("0.0.0.0", "127.0.0.1") for part in command]  # noqa: S104
    return [sys.executable, *replaced[1:]]


def healthy(name: str, port: int) -> bool:
    check = as_here(SERVICES[name]["healthcheck"]["test"][1:], port)
    return subprocess.run(check, capture_output=True, check=False).returncode == 0

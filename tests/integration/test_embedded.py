"""The embedded PostgreSQL: who may do what in it, and who keeps it alive."""

from __future__ import annotations

import asyncpg
import pytest


async def test_the_role_of_the_services_is_plain_and_owns_its_database(database):
    connection = await asyncpg.connect(database)
    role = await connection.fetchrow(
        "SELECT rolsuper, rolbypassrls, rolcreatedb, rolcreaterole, rolreplication, "
        "pg_get_userbyid(datdba) = rolname AS owns "
        "FROM pg_roles, pg_database WHERE rolname = current_user AND datname = current_database()"
    )
    distance = await connection.fetchval("SELECT '[1,0]'::vector <=> '[0,1]'::vector")
    await connection.execute("CREATE TABLE public.t (v vector(3)); CREATE SCHEMA mine")
    await connection.close()

    assert dict(role) == {
        "rolsuper": False,
        "rolbypassrls": False,
        "rolcreatedb": False,
        "rolcreaterole": False,
        "rolreplication": False,
        "owns": True,
    }
    assert distance == 1.0


@pytest.mark.parametrize("attempt", [1, 2])
async def test_each_test_has_a_database_of_its_own(database, attempt):
    connection = await asyncpg.connect(database)
    await connection.execute("CREATE TABLE public.only_once (attempt int)")
    await connection.close()

    assert attempt

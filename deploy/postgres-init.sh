#!/bin/sh
# Run once by the PostgreSQL image on an empty data directory: the extension, and the plain role that the services use.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$(cat "$SERVICE_PASSWORD_FILE")" -U "$POSTGRES_USER" -d postgres <<'SQL'
CREATE ROLE runtime_memory LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD :'password';
CREATE DATABASE runtime_memory OWNER runtime_memory;
\connect runtime_memory
CREATE EXTENSION vector;
SQL

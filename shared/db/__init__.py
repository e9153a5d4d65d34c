"""Connections to PostgreSQL and its schema: the pool, the migrations, the embedded server."""

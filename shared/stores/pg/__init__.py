"""The PostgreSQL + pgvector engine: one module a table, SQL beside the function that runs it."""

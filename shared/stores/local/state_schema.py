"""The tables of snapshots, of typed data and of allowances; see `schema` and, for blank and fill, `overflow`."""

from __future__ import annotations

TABLES = """
    -- A state is complete once its `id` is set; one that never was is what a broken upload left.
    CREATE TABLE states (
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        user_id TEXT NOT NULL,
        id TEXT,
        created TEXT,
        digest TEXT,
        counts TEXT NOT NULL DEFAULT '{}',
        size INTEGER NOT NULL DEFAULT 0,
        parts INTEGER NOT NULL DEFAULT 0,
        begun_at TEXT NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX states_person ON states (user_id, id);

    CREATE TABLE state_parts (
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        state_key INTEGER NOT NULL REFERENCES states (key) ON DELETE CASCADE,
        part INTEGER NOT NULL,
        blank BLOB NOT NULL,
        content BLOB NOT NULL,
        fill BLOB NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX state_parts_state ON state_parts (state_key, part);

    -- Which memories a state holds, by the id in it and the id under which it lives; which were forgotten since.
    CREATE TABLE state_memories (
        state_key INTEGER NOT NULL REFERENCES states (key) ON DELETE CASCADE,
        memory_id TEXT NOT NULL,
        user_id TEXT NOT NULL,
        live_id TEXT NOT NULL,
        forgotten INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (state_key, memory_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX state_memories_live ON state_memories (user_id, live_id);

    -- Which snapshots still held what a receipt tells of.
    ALTER TABLE receipts DROP COLUMN held;
    CREATE TABLE receipt_states (
        receipt_id TEXT NOT NULL,
        state_id TEXT NOT NULL,
        PRIMARY KEY (receipt_id, state_id)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE data (
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        user_id TEXT NOT NULL,
        agent_id TEXT NOT NULL,
        type TEXT NOT NULL,
        revision INTEGER NOT NULL,
        actor TEXT NOT NULL,
        created TEXT NOT NULL,
        blank BLOB NOT NULL,
        data TEXT NOT NULL,
        fill BLOB NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX data_type ON data (user_id, agent_id, type, revision);

    CREATE TABLE data_schemas (
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        user_id TEXT NOT NULL,
        agent_id TEXT NOT NULL,
        type TEXT NOT NULL,
        blank BLOB NOT NULL,
        schema TEXT NOT NULL,
        fill BLOB NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX data_schemas_type ON data_schemas (user_id, agent_id, type);

    -- Nobody gives or asks for an allowance here: they travel with snapshots.
    CREATE TABLE shares (
        user_id TEXT NOT NULL,
        source TEXT NOT NULL,
        reader TEXT NOT NULL,
        allowed_at TEXT NOT NULL,
        PRIMARY KEY (user_id, source, reader)
    ) STRICT, WITHOUT ROWID;
    """

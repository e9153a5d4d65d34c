"""The tables. Every table that holds words has its secret columns between `blank` and `fill`, see `overflow`."""

from __future__ import annotations

VERSIONS = (
    """
    CREATE TABLE identity (id TEXT NOT NULL, dimensions INTEGER NOT NULL) STRICT;

    -- One row a scope that was ever written to; `version` is raised by every write, so that an index built from the
    -- rows of one version is never taken for another's. The empty agent_id is the person's own counter.
    CREATE TABLE scopes (
        user_id TEXT NOT NULL,
        agent_id TEXT NOT NULL,
        epoch INTEGER NOT NULL DEFAULT 0,
        version INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (user_id, agent_id)
    ) STRICT, WITHOUT ROWID;

    -- Keys are never used again: a search index knows a row by its key.
    CREATE TABLE memories (
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        user_id TEXT NOT NULL,
        agent_id TEXT NOT NULL,
        created_at TEXT NOT NULL,
        expires_on TEXT,
        run_id TEXT,
        hash TEXT,
        version INTEGER NOT NULL,
        blank BLOB NOT NULL,
        payload TEXT NOT NULL,
        vector BLOB NOT NULL,
        fill BLOB NOT NULL
    ) STRICT;
    CREATE INDEX memories_scope ON memories (user_id, agent_id, created_at DESC, id, expires_on);
    CREATE INDEX memories_person ON memories (user_id, created_at DESC, id, expires_on, agent_id);
    CREATE INDEX memories_words ON memories (user_id, agent_id, hash);
    CREATE INDEX memories_version ON memories (user_id, agent_id, version);

    -- The new words of a change are the old words of the next one, or the memory's: only old words stand here.
    CREATE TABLE history (
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        memory_id TEXT NOT NULL,
        user_id TEXT NOT NULL,
        agent_id TEXT NOT NULL,
        event TEXT NOT NULL,
        actor TEXT NOT NULL,
        door TEXT NOT NULL,
        at TEXT NOT NULL,
        blank BLOB,
        old_words TEXT,
        fill BLOB
    ) STRICT;
    CREATE INDEX history_memory ON history (user_id, memory_id, key);

    -- What was forgotten: how many, never what.
    CREATE TABLE receipts (
        id TEXT NOT NULL PRIMARY KEY,
        user_id TEXT NOT NULL,
        agent_id TEXT,
        verb TEXT NOT NULL,
        forgotten INTEGER NOT NULL,
        actor TEXT NOT NULL,
        door TEXT NOT NULL,
        held INTEGER NOT NULL DEFAULT 0,
        at TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX receipts_person ON receipts (user_id, at DESC, id);

    -- The queue of learns. `results` holds ids and events only, the words are read from the memories; `barred` holds
    -- hashes of words forgotten since it was accepted.
    CREATE TABLE events (
        id TEXT NOT NULL PRIMARY KEY,
        user_id TEXT NOT NULL,
        agent_id TEXT NOT NULL,
        status TEXT NOT NULL DEFAULT 'PENDING',
        epoch INTEGER NOT NULL,
        results TEXT,
        error TEXT,
        note TEXT,
        barred TEXT NOT NULL DEFAULT '[]',
        actor TEXT NOT NULL,
        door TEXT NOT NULL,
        idempotency_key TEXT,
        extracts INTEGER NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        available_at TEXT NOT NULL,
        lease_until TEXT,
        worker TEXT,
        created_at TEXT NOT NULL,
        started_at TEXT,
        completed_at TEXT
    ) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX events_one_running ON events (user_id, agent_id) WHERE status = 'RUNNING';
    CREATE UNIQUE INDEX events_idempotency ON events (user_id, agent_id, idempotency_key)
        WHERE idempotency_key IS NOT NULL;
    CREATE INDEX events_unfinished ON events (user_id, agent_id, created_at, id)
        WHERE status IN ('PENDING', 'RUNNING');
    CREATE INDEX events_waiting ON events (created_at, id) WHERE status = 'PENDING';
    CREATE INDEX events_finished ON events (completed_at) WHERE completed_at IS NOT NULL;
    CREATE INDEX events_person ON events (user_id, created_at DESC, id);

    -- The raw messages of a learn that has not ended.
    CREATE TABLE requests (
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        event_id TEXT NOT NULL UNIQUE REFERENCES events (id) ON DELETE CASCADE,
        blank BLOB NOT NULL,
        request TEXT NOT NULL,
        fill BLOB NOT NULL
    ) STRICT;

    -- Who reached a person's memories in another's name. No words.
    CREATE TABLE access (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        user_id TEXT NOT NULL,
        agent_id TEXT,
        actor TEXT NOT NULL,
        verb TEXT NOT NULL,
        door TEXT NOT NULL,
        memories INTEGER NOT NULL,
        at TEXT NOT NULL
    ) STRICT;
    CREATE INDEX access_person ON access (user_id, at DESC, id DESC);

    -- What was taken over from a stock client's files, so that what was forgotten since does not come back.
    CREATE TABLE imports (name TEXT NOT NULL PRIMARY KEY, version TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE imported (id TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
    """,
    """
    -- What programs present in their owner's name: `digest` is the SHA-256 of the whole key, `id` its visible part.
    CREATE TABLE api_keys (
        id TEXT NOT NULL PRIMARY KEY,
        user_id TEXT NOT NULL,
        name TEXT NOT NULL,
        agent_id TEXT,
        scopes TEXT NOT NULL,
        created_at TEXT NOT NULL,
        expires_at TEXT,
        last_used_at TEXT,
        digest BLOB NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX api_keys_owner ON api_keys (user_id, created_at, id);

    -- What programs keep beside a person's memories: project settings, exports asked for, feedback. No words.
    CREATE TABLE client_records (
        user_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        id TEXT NOT NULL,
        body TEXT NOT NULL,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        PRIMARY KEY (user_id, kind, id)
    ) STRICT, WITHOUT ROWID;
    """,
    """
    -- Snapshots: copies of all that is remembered of a person, made by the person. A state is complete once its `id` is
    -- set; one that never was is what a broken upload left, and is removed by a later one.
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
    CREATE INDEX states_unfinished ON states (begun_at) WHERE id IS NULL;
    CREATE TABLE state_parts (
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        state_key INTEGER NOT NULL REFERENCES states (key) ON DELETE CASCADE,
        part INTEGER NOT NULL,
        blank BLOB NOT NULL,
        content BLOB NOT NULL,
        fill BLOB NOT NULL,
        UNIQUE (state_key, part)
    ) STRICT;

    -- Which memories a state holds, by the id in it and the id under which it lives; which were forgotten since.
    CREATE TABLE state_memories (
        state_key INTEGER NOT NULL REFERENCES states (key) ON DELETE CASCADE,
        user_id TEXT NOT NULL,
        memory_id TEXT NOT NULL,
        live_id TEXT NOT NULL,
        forgotten INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (state_key, memory_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX state_memories_live ON state_memories (user_id, live_id);

    -- Typed data memory: documents by person, application and type, every revision of each.
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
        fill BLOB NOT NULL,
        UNIQUE (user_id, agent_id, type, revision)
    ) STRICT;
    CREATE TABLE data_schemas (
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        user_id TEXT NOT NULL,
        agent_id TEXT NOT NULL,
        type TEXT NOT NULL,
        blank BLOB NOT NULL,
        schema TEXT NOT NULL,
        fill BLOB NOT NULL,
        UNIQUE (user_id, agent_id, type)
    ) STRICT;

    -- Which snapshots still held something of what a receipt is about, when it was forgotten.
    ALTER TABLE receipts DROP COLUMN held;
    ALTER TABLE receipts ADD COLUMN states TEXT NOT NULL DEFAULT '[]';

    -- Only where they are not the old words of the next change, nor the memory's own.
    ALTER TABLE history ADD COLUMN new_words TEXT;
    """,
    """
    -- What waits for a fresh vector or fresh lexemes, and what expires: by id and date, no words. All that there is
    -- is looked at once.
    CREATE TABLE stale (id TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
    INSERT INTO stale SELECT id FROM memories;
    CREATE INDEX memories_expiry ON memories (expires_on) WHERE expires_on IS NOT NULL;
    """,
    """
    -- What webhooks are still to be told: ids only, no words. A row goes when it was told or given up; the first row
    -- of a webhook says for all of its rows when it is tried again.
    CREATE TABLE deliveries (
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL,
        user_id TEXT NOT NULL,
        agent_id TEXT NOT NULL,
        webhook_id TEXT NOT NULL,
        tell TEXT NOT NULL,
        memory_id TEXT,
        attempts INTEGER NOT NULL DEFAULT 0,
        failures INTEGER NOT NULL DEFAULT 0,
        created_at TEXT NOT NULL,
        available_at TEXT NOT NULL,
        worker TEXT,
        lease_until TEXT
    ) STRICT;
    CREATE INDEX deliveries_order ON deliveries (user_id, webhook_id, key);
    CREATE INDEX deliveries_leased ON deliveries (user_id, webhook_id) WHERE lease_until IS NOT NULL;

    -- What the embedder refuses is left alone until then, or until it is changed.
    ALTER TABLE stale ADD COLUMN until TEXT;
    """,
    """
    -- An application called `default` and keys that are not bound had one row of project settings: each has its own.
    UPDATE client_records SET id = 'app:' || id WHERE kind = 'project' AND id <> 'default';
    INSERT INTO client_records (user_id, kind, id, body, created_at, updated_at)
    SELECT user_id, kind, 'app:default', body, created_at, updated_at FROM client_records AS kept
    WHERE kind = 'project' AND id = 'default' AND EXISTS (
        SELECT 1 FROM api_keys AS k WHERE k.user_id = kept.user_id AND k.agent_id = 'app:default'
    );
    """,
)
"""What each version of the schema adds to the one before."""

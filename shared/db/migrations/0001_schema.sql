-- Everything of ours but the memory table itself, which keeps mem0's layout and is made by shared/db/collection.py.

-- One sortable UTC form of any ISO 8601 text, or NULL. Marked IMMUTABLE because a naive time is given its zone here and
-- nothing else of the session's settings is read; a generated column needs it.
CREATE FUNCTION runtime_memory.utc_stamp(value text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT AS $$
BEGIN
    IF length(value) > 40 OR value !~ '^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?\s?(Z|z|[+-]\d{2}(:?\d{2})?)?)?$' THEN
        RETURN NULL;
    END IF;
    IF value !~ '(Z|z|[+-]\d{2}(:?\d{2})?)$' OR value ~ '^\d{4}-\d{2}-\d{2}$' THEN
        value := value || CASE WHEN length(value) = 10 THEN 'T00:00:00Z' ELSE 'Z' END;
    END IF;
    RETURN to_char(replace(value, ',', '.')::timestamptz AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"');
EXCEPTION WHEN others THEN
    RETURN NULL;
END $$;

CREATE TABLE runtime_memory.collections (
    name text PRIMARY KEY,
    dimensions integer NOT NULL,
    adopted_at timestamptz NOT NULL DEFAULT now()
);

-- Raised by forget-all, erase and restore: what was accepted in an older epoch is never written. The empty agent_id is
-- the person's own counter, raised by what reaches every application.
CREATE TABLE runtime_memory.epochs (
    user_id text NOT NULL,
    agent_id text NOT NULL,
    epoch bigint NOT NULL,
    PRIMARY KEY (user_id, agent_id)
);

CREATE TABLE runtime_memory.history (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    memory_id uuid NOT NULL,
    user_id text NOT NULL,
    agent_id text NOT NULL,
    event text NOT NULL,
    old_words text,
    new_words text,
    actor text NOT NULL,
    door text NOT NULL,
    at timestamptz NOT NULL
);
CREATE INDEX history_memory ON runtime_memory.history (user_id, memory_id, id);

-- What was forgotten: how many, never what.
CREATE TABLE runtime_memory.receipts (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    user_id text NOT NULL,
    agent_id text,
    verb text NOT NULL,
    forgotten bigint NOT NULL,
    actor text NOT NULL,
    door text NOT NULL,
    states uuid[] NOT NULL DEFAULT '{}',
    at timestamptz NOT NULL
);
CREATE INDEX receipts_person ON runtime_memory.receipts (user_id, at DESC, id);

-- The queue of learns. `request` holds raw messages and is erased when the event ends; `results` holds ids and events
-- only, the words are read from the memories; `barred` holds hashes of words forgotten since it was accepted.
CREATE TABLE runtime_memory.events (
    id uuid PRIMARY KEY,
    user_id text NOT NULL,
    agent_id text NOT NULL,
    status text NOT NULL DEFAULT 'PENDING',
    epoch bigint NOT NULL,
    request jsonb,
    results jsonb,
    error text,
    barred text[] NOT NULL DEFAULT '{}',
    actor text NOT NULL,
    door text NOT NULL,
    idempotency_key text,
    attempts integer NOT NULL DEFAULT 0,
    available_at timestamptz NOT NULL DEFAULT now(),
    lease_until timestamptz,
    worker text,
    created_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    completed_at timestamptz
);
CREATE UNIQUE INDEX events_one_running ON runtime_memory.events (user_id, agent_id) WHERE status = 'RUNNING';
CREATE UNIQUE INDEX events_idempotency ON runtime_memory.events (user_id, agent_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX events_unfinished ON runtime_memory.events (user_id, agent_id, created_at, id)
    WHERE status IN ('PENDING', 'RUNNING');
CREATE INDEX events_due ON runtime_memory.events (available_at) WHERE status = 'PENDING';
CREATE INDEX events_person ON runtime_memory.events (user_id, created_at DESC, id);

-- Snapshots: copies of all that is remembered of a person, made by the person. A state is complete once its `id` is set;
-- one that never was is what a broken upload left, and is removed by the next one.
CREATE TABLE runtime_memory.states (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id text NOT NULL,
    id uuid,
    created text,
    digest text,
    counts jsonb NOT NULL DEFAULT '{}',
    size bigint NOT NULL DEFAULT 0,
    parts integer NOT NULL DEFAULT 0,
    begun_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX states_person ON runtime_memory.states (user_id, id);
CREATE INDEX states_unfinished ON runtime_memory.states (begun_at) WHERE id IS NULL;

-- A state's content in order: each part is compressed by itself, so that no more than one is held at once.
CREATE TABLE runtime_memory.state_parts (
    state_key bigint NOT NULL REFERENCES runtime_memory.states ON DELETE CASCADE,
    part integer NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (state_key, part)
);
ALTER TABLE runtime_memory.state_parts ALTER COLUMN content SET STORAGE EXTERNAL;

-- Which memories a state holds, by the id in it and the id under which it lives; and which of them were forgotten since.
CREATE TABLE runtime_memory.state_memories (
    state_key bigint NOT NULL REFERENCES runtime_memory.states ON DELETE CASCADE,
    user_id text NOT NULL,
    memory_id uuid NOT NULL,
    live_id uuid NOT NULL,
    forgotten boolean NOT NULL DEFAULT false,
    PRIMARY KEY (state_key, memory_id)
);
CREATE INDEX state_memories_live ON runtime_memory.state_memories (user_id, live_id);

-- Typed data memory: documents by person, application and type, every revision of each.
CREATE TABLE runtime_memory.data (
    user_id text NOT NULL,
    agent_id text NOT NULL,
    type text NOT NULL,
    revision integer NOT NULL,
    data jsonb NOT NULL,
    actor text NOT NULL,
    created text NOT NULL,
    PRIMARY KEY (user_id, agent_id, type, revision)
);

CREATE TABLE runtime_memory.data_schemas (
    user_id text NOT NULL,
    agent_id text NOT NULL,
    type text NOT NULL,
    schema jsonb NOT NULL,
    PRIMARY KEY (user_id, agent_id, type)
);

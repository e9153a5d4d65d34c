-- What a person allows: `reader` may use what `source` remembers of them. Written by the platform only.
CREATE TABLE runtime_memory.shares (
    user_id text NOT NULL,
    source text NOT NULL,
    reader text NOT NULL,
    allowed_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, reader, source)
);
CREATE INDEX shares_source ON runtime_memory.shares (user_id, source, reader);

-- Who reached a person's memories in another's name: by an impersonating key, or as an administrator. No words.
CREATE TABLE runtime_memory.access (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id text NOT NULL,
    agent_id text,
    actor text NOT NULL,
    verb text NOT NULL,
    door text NOT NULL,
    memories bigint NOT NULL,
    at timestamptz NOT NULL
);
CREATE INDEX access_person ON runtime_memory.access (user_id, at DESC, id DESC);

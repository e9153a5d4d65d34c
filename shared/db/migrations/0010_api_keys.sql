-- What programs present in their owner's name. `digest` is the SHA-256 of the whole key; the id is its visible part.
CREATE TABLE runtime_memory.api_keys (
    id text PRIMARY KEY,
    user_id text NOT NULL,
    name text NOT NULL,
    agent_id text,
    scopes text[] NOT NULL,
    digest bytea NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    last_used_at timestamptz
);
CREATE INDEX api_keys_owner ON runtime_memory.api_keys (user_id, created_at, id);

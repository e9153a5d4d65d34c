-- What programs keep beside a person's memories (project settings, exports asked for, feedback). No words.
CREATE TABLE runtime_memory.client_records (
    user_id text NOT NULL,
    kind text NOT NULL,
    id text NOT NULL,
    body jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, kind, id)
);

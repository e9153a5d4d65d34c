-- Memories that the embedder refuses: left alone until then, or until they are changed. No words.
CREATE TABLE runtime_memory.set_aside (
    memory_id uuid PRIMARY KEY,
    user_id text NOT NULL,
    updated_at text,
    until timestamptz NOT NULL
);
CREATE INDEX set_aside_until ON runtime_memory.set_aside (until);
SELECT runtime_memory.person_policy('runtime_memory.set_aside');

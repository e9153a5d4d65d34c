-- What the LLM said that is not kept, in a sentence beside the results of a learn that succeeded.
ALTER TABLE runtime_memory.events ADD COLUMN note text;

-- Whether it needs the LLM: what does not is never kept waiting by an LLM that hangs.
ALTER TABLE runtime_memory.events ADD COLUMN extracts boolean NOT NULL DEFAULT false;

-- Finished learns are dropped after a while.
CREATE INDEX events_finished ON runtime_memory.events (completed_at) WHERE completed_at IS NOT NULL;

-- In the order in which they are taken.
CREATE INDEX events_waiting ON runtime_memory.events (created_at, id) WHERE status = 'PENDING';
DROP INDEX runtime_memory.events_due;

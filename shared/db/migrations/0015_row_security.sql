-- The second wall on everything that belongs to a person: a connection that said whose rows it sees
-- (`runtime_memory.person`) is shown no others and writes none for others, whatever a statement asks for; '*' sees all, ''
-- nothing, and a client that never said the setting all, as before. A policy does nothing until row security is enabled on
-- its table, which shared/db/wall.py does at the start unless MEMORY_ROW_SECURITY=0.

-- Every table with a `user_id` is given its policy by this, the memory table too.
CREATE FUNCTION runtime_memory.person_policy(owned regclass) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format(
        'CREATE POLICY runtime_memory_person ON %s USING'
        ' (coalesce((SELECT current_setting(''runtime_memory.person'', true)), ''*'') = ''*'''
        ' OR user_id = (SELECT current_setting(''runtime_memory.person'', true)))',
        owned
    );
END $$;

SELECT runtime_memory.person_policy(owned) FROM unnest(ARRAY[
    'runtime_memory.epochs', 'runtime_memory.history', 'runtime_memory.receipts', 'runtime_memory.events',
    'runtime_memory.shares', 'runtime_memory.access', 'runtime_memory.states', 'runtime_memory.state_memories',
    'runtime_memory.data', 'runtime_memory.data_schemas', 'runtime_memory.api_keys', 'runtime_memory.client_records'
]::regclass[]) AS owned;

-- A part is whose state it is of.
CREATE POLICY runtime_memory_person ON runtime_memory.state_parts USING
    (coalesce((SELECT current_setting('runtime_memory.person', true)), '*') = '*'
    OR EXISTS (SELECT FROM runtime_memory.states WHERE key = state_key
        AND user_id = (SELECT current_setting('runtime_memory.person', true))));

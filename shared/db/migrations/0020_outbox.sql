-- What webhooks are still to be told: written with the change, read by any runtime. Ids only, no words; a row goes when it
-- was told or given up. The first row of a webhook says for all of its rows when it is tried again.
CREATE TABLE runtime_memory.deliveries (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    user_id text NOT NULL,
    agent_id text NOT NULL,
    webhook_id text NOT NULL,
    tell text NOT NULL,
    memory_id uuid,
    attempts integer NOT NULL DEFAULT 0,
    failures integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    available_at timestamptz NOT NULL DEFAULT now(),
    worker text,
    lease_until timestamptz
);
CREATE INDEX deliveries_order ON runtime_memory.deliveries (user_id, webhook_id, key);
CREATE INDEX deliveries_leased ON runtime_memory.deliveries (user_id, webhook_id) WHERE lease_until IS NOT NULL;
SELECT runtime_memory.person_policy('runtime_memory.deliveries');

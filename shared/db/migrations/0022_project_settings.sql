-- Settings of a bound key's project are kept under its application's key, and those of keys that are not bound under
-- `default`: before, an application called `default` had the same row. It keeps what held for it where a key of its owner
-- is bound to it; from here on the two are changed apart.
UPDATE runtime_memory.client_records SET id = 'app:' || id WHERE kind = 'project' AND id <> 'default';
INSERT INTO runtime_memory.client_records (user_id, kind, id, body, created_at, updated_at)
SELECT user_id, kind, 'app:default', body, created_at, updated_at FROM runtime_memory.client_records AS kept
WHERE kind = 'project' AND id = 'default' AND EXISTS (
    SELECT FROM runtime_memory.api_keys AS k WHERE k.user_id = kept.user_id AND k.agent_id = 'app:default'
);

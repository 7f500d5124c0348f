-- A hub process on this store. It owns its claims and runs until its lease has expired and its row is removed.
CREATE TABLE node (
    id TEXT PRIMARY KEY,
    started_at BIGINT NOT NULL,
    lease_until BIGINT NOT NULL
);

-- The node with the attempt in flight, if any. Earlier claims have no node, so they are due again.
ALTER TABLE delivery ADD COLUMN claimed_by TEXT;
UPDATE delivery SET claimed_by = '' WHERE claimed = 1;
ALTER TABLE delivery DROP COLUMN claimed;
CREATE INDEX delivery_claimed ON delivery (claimed_by) WHERE claimed_by IS NOT NULL;

-- The node that runs it.
ALTER TABLE run ADD COLUMN node TEXT NOT NULL DEFAULT '';
-- The id of the last write, for idempotency.
ALTER TABLE run ADD COLUMN write_id TEXT NOT NULL DEFAULT '';
CREATE INDEX run_of_node ON run (node) WHERE status = 'running';

-- Commands to a run that another node owns.
CREATE TABLE run_mail (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id TEXT NOT NULL,
    body TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX run_mail_run ON run_mail (run_id, seq);

-- Rate limits: when the full burst is available again.
CREATE TABLE rate (
    key TEXT PRIMARY KEY,
    full_at BIGINT NOT NULL
);
CREATE INDEX rate_full ON rate (full_at);

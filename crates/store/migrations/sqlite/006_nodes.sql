-- A hub process that works on this store. What it holds is its own until its lease has run out.
CREATE TABLE node (
    id TEXT PRIMARY KEY,
    started_at BIGINT NOT NULL,
    lease_until BIGINT NOT NULL
);

-- Who has the attempt under way; NULL while nobody has. What was claimed before is nobody's any more, and so due again.
ALTER TABLE delivery ADD COLUMN claimed_by TEXT;
UPDATE delivery SET claimed_by = '' WHERE claimed = 1;
ALTER TABLE delivery DROP COLUMN claimed;
CREATE INDEX delivery_claimed ON delivery (claimed_by) WHERE claimed_by IS NOT NULL;

-- Whose task moves the run.
ALTER TABLE run ADD COLUMN node TEXT NOT NULL DEFAULT '';
-- What was stored last, so that storing the same twice is noticed.
ALTER TABLE run ADD COLUMN write_id TEXT NOT NULL DEFAULT '';
CREATE INDEX run_of_node ON run (node) WHERE status = 'running';

-- What is said to a run that another node moves.
CREATE TABLE run_mail (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id TEXT NOT NULL,
    body TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX run_mail_run ON run_mail (run_id, seq);

-- How much of a limit is used up: when all of it will be there again.
CREATE TABLE rate (
    key TEXT PRIMARY KEY,
    full_at BIGINT NOT NULL
);
CREATE INDEX rate_full ON rate (full_at);

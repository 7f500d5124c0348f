-- Ids are TEXT, instants BIGINT milliseconds, JSON is TEXT that we parse.

CREATE TABLE agent (
    id TEXT PRIMARY KEY,
    signature_alg TEXT NOT NULL,
    -- Open asks and tasks; a counter, because counting them would grow with their number.
    open BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL
);

CREATE TABLE person (
    name TEXT PRIMARY KEY,
    role TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

-- A credential, stored as its SHA-256. kind: agent, person, signin (one-time link).
CREATE TABLE credential (
    hash BLOB PRIMARY KEY,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    label TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT
);
CREATE INDEX credential_subject ON credential (kind, subject);

-- Keys that sign the hub's pushes to an agent; the key without a retirement time is the current one.
CREATE TABLE signing_key (
    agent_id TEXT NOT NULL,
    key TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    retires_at BIGINT,
    PRIMARY KEY (agent_id, key)
);

CREATE TABLE hub_key (
    kid TEXT PRIMARY KEY,
    seed BLOB NOT NULL,
    created_at BIGINT NOT NULL,
    retires_at BIGINT
);

CREATE TABLE callback_host (
    agent_id TEXT NOT NULL,
    host TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (agent_id, host)
);

CREATE TABLE secret (
    agent_id TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (agent_id, name)
);

CREATE TABLE message (
    -- Order of arrival. It stands in the indexes instead of the longer id.
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    agent_id TEXT NOT NULL,
    status TEXT NOT NULL,
    rev BIGINT NOT NULL,
    -- 0 urgent … 3 low: the inbox reads in this order.
    rank BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    expires_at BIGINT,
    resolved_at BIGINT,
    -- Set when retention has emptied the row; the id then answers "gone".
    purged_at BIGINT,
    idempotency_key TEXT,
    -- The last entry of its trail.
    audit_seq BIGINT NOT NULL,
    -- The hash of that entry while the message is open, because the next entry covers it. Resolving clears it, which
    -- makes room in the row for what resolving adds: no page has to be split.
    audit_hash BLOB,
    source TEXT NOT NULL,
    callback TEXT,
    resolution_seq BIGINT
);
CREATE UNIQUE INDEX message_idempotency ON message (agent_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX message_by_agent ON message (agent_id, seq);
CREATE INDEX message_open ON message (rank, seq) WHERE status = 'open';
CREATE INDEX message_expiry ON message (expires_at) WHERE status = 'open' AND expires_at IS NOT NULL;
CREATE INDEX message_resolved ON message (resolved_at) WHERE resolved_at IS NOT NULL;

-- The long texts of a message, which never change. Stored apart from its row, so that resolving rewrites little.
CREATE TABLE message_text (
    seq INTEGER PRIMARY KEY,
    -- What people see and decide on; NULL where it is read from wire.
    content TEXT,
    -- What the agent sent, byte for byte.
    wire TEXT NOT NULL
);

-- Appended in order, like the audit trail: messages are resolved in any order, and a row in the middle costs a page.
CREATE TABLE resolution (
    seq INTEGER PRIMARY KEY,
    body TEXT NOT NULL
);

-- The delivery of a resolution to its agent's callback; committed together with the resolution.
CREATE TABLE delivery (
    message_id TEXT PRIMARY KEY,
    agent_id TEXT NOT NULL,
    host TEXT NOT NULL,
    track TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    -- The next attempt; while one is under way, the end of its lease.
    due_at BIGINT NOT NULL,
    claimed BIGINT NOT NULL DEFAULT 0,
    delivered_at BIGINT,
    last_error TEXT
);
CREATE INDEX delivery_due ON delivery (host, due_at) WHERE track = 'pending';
CREATE INDEX delivery_track ON delivery (track, created_at);

-- Append-only. n counts the entries of one subject; they are found from the last one backwards.
CREATE TABLE audit (
    seq INTEGER PRIMARY KEY,
    subject TEXT NOT NULL,
    n BIGINT NOT NULL,
    -- The entry before it, of the same subject.
    prev_seq BIGINT,
    at BIGINT NOT NULL,
    actor TEXT NOT NULL,
    event TEXT NOT NULL,
    content_sha256 BLOB,
    resolution_sha256 BLOB,
    -- Covers the hash of entry n - 1 too.
    hash BLOB NOT NULL
);
CREATE TRIGGER audit_keeps_its_entries BEFORE DELETE ON audit BEGIN
    SELECT RAISE(ABORT, 'audit is append-only');
END;
CREATE TRIGGER audit_never_changes BEFORE UPDATE ON audit BEGIN
    SELECT RAISE(ABORT, 'audit is append-only');
END;

-- The last audit entry of a subject that is not a message: an agent, a person, the hub.
CREATE TABLE audit_head (
    subject TEXT PRIMARY KEY,
    audit_seq BIGINT NOT NULL
);

CREATE TABLE drafts (
    id         INTEGER PRIMARY KEY,
    hub        TEXT NOT NULL,
    agent_id   TEXT NOT NULL,
    key        TEXT NOT NULL,
    kind       TEXT NOT NULL,
    -- The very bytes that were sent, and will be sent again.
    bytes      BLOB NOT NULL,
    kept_at    INTEGER NOT NULL,
    -- What the hub acknowledged; null until then.
    message_id TEXT,
    poll_url   TEXT,
    UNIQUE (hub, agent_id, key)
) STRICT;

CREATE INDEX drafts_by_key ON drafts (key);
CREATE INDEX drafts_by_message ON drafts (message_id);

-- One act per message, whatever resolutions are told of it.
CREATE TABLE acts (
    -- Never used again, so that an old reservation cannot end a newer act.
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    message_id     TEXT NOT NULL UNIQUE,
    resolution_id  TEXT NOT NULL,
    state          TEXT NOT NULL CHECK (state IN ('reserved', 'done', 'failed')),
    begun_at       INTEGER NOT NULL,
    ended_at       INTEGER,
    -- The process that reserved it; null once it let go without an end.
    holder_pid     INTEGER,
    holder_started TEXT,
    -- The process that does the work for it, if that is another one: it may outlive the one that reserved.
    worker_pid     INTEGER,
    worker_started TEXT
) STRICT;

CREATE TABLE jtis (
    jti          TEXT PRIMARY KEY,
    signed_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX jtis_by_time ON jtis (signed_until);

CREATE TABLE drafts (
    id         INTEGER PRIMARY KEY,
    hub        TEXT NOT NULL,
    agent_id   TEXT NOT NULL,
    key        TEXT NOT NULL,
    kind       TEXT NOT NULL,
    -- The exact bytes of every attempt.
    bytes      BLOB NOT NULL,
    kept_at    INTEGER NOT NULL,
    -- The hub's acknowledgement; null until then.
    message_id TEXT,
    poll_url   TEXT,
    UNIQUE (hub, agent_id, key)
) STRICT;

CREATE INDEX drafts_by_key ON drafts (key);
CREATE INDEX drafts_by_message ON drafts (message_id);

-- One action per message, even if several resolutions of it are reported.
CREATE TABLE acts (
    -- Never reused, so that an old reservation cannot finish a newer action.
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    message_id     TEXT NOT NULL UNIQUE,
    resolution_id  TEXT NOT NULL,
    state          TEXT NOT NULL CHECK (state IN ('reserved', 'done', 'failed')),
    begun_at       INTEGER NOT NULL,
    ended_at       INTEGER,
    -- The reserving process; null once it dropped the reservation.
    holder_pid     INTEGER,
    holder_started TEXT,
    -- The worker process, if there is one: it may outlive the reserving process.
    worker_pid     INTEGER,
    worker_started TEXT
) STRICT;

CREATE TABLE jtis (
    jti          TEXT PRIMARY KEY,
    signed_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX jtis_by_time ON jtis (signed_until);

-- For deciding in a browser: sign-in, snooze and archive, search, and fetch records.

-- An argon2id hash in PHC format; NULL: the person signs in another way.
ALTER TABLE person ADD COLUMN password TEXT;
-- When the agent last called.
ALTER TABLE agent ADD COLUMN seen_at BIGINT;

CREATE TABLE passkey (
    -- The id the authenticator gave it.
    id BLOB PRIMARY KEY,
    person TEXT NOT NULL,
    name TEXT NOT NULL,
    -- Public key and counter, as the library that checks them writes them.
    body TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    used_at BIGINT
);
CREATE INDEX passkey_person ON passkey (person);

-- The challenge between the two steps of a passkey ceremony.
CREATE TABLE ceremony (
    id TEXT PRIMARY KEY,
    person TEXT,
    body TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX ceremony_expiry ON ceremony (expires_at, id);

-- Snoozed messages of a person (until a time), or archived ones (NULL).
CREATE TABLE shelf (
    person TEXT NOT NULL,
    seq BIGINT NOT NULL,
    until BIGINT,
    PRIMARY KEY (person, seq)
);
CREATE INDEX shelf_until ON shelf (person, until, seq);
CREATE INDEX shelf_message ON shelf (seq);

CREATE TABLE setting (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

-- When the agent first fetched the resolution.
CREATE TABLE fetched (
    seq INTEGER PRIMARY KEY,
    at BIGINT NOT NULL
);

-- Lists of terminal messages are read by status, latest first. This index replaces the one by time alone, so a message
-- still costs one index entry.
DROP INDEX message_resolved;
CREATE INDEX message_ended ON message (status, resolved_at, seq) WHERE resolved_at IS NOT NULL;

-- The words of a message, under its seq; none of a sensitive one. They arrive normalized and separated, so the tokenizer
-- has nothing left to do, and their positions are not needed.
CREATE VIRTUAL TABLE message_search USING fts5 (
    words,
    content = '',
    contentless_delete = 1,
    detail = 'none',
    prefix = '2 3',
    tokenize = 'ascii'
);

-- The checkpoint of the search index, one row. Messages up to settled are all indexed; the other columns are for
-- databases with several writers, where a lower seq may be committed later than a higher one.
CREATE TABLE search_mark (
    settled BIGINT NOT NULL,
    high BIGINT NOT NULL,
    horizon BIGINT NOT NULL
);
INSERT INTO search_mark (settled, high, horizon) VALUES (0, 0, 0);

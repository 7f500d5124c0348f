-- The same tables as in SQLite, under the same number; see 001 for the differences, except for the search.

-- An argon2id hash in PHC format; NULL: the person signs in another way.
ALTER TABLE person ADD COLUMN password TEXT;
-- When the agent last called.
ALTER TABLE agent ADD COLUMN seen_at BIGINT;

CREATE TABLE passkey (
    -- The id the authenticator gave it.
    id BYTEA PRIMARY KEY,
    person TEXT COLLATE "C" NOT NULL,
    name TEXT NOT NULL,
    -- Public key and counter, as the library that checks them writes them.
    body TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    used_at BIGINT
);
CREATE INDEX passkey_person ON passkey (person);

-- The challenge between the two steps of a passkey ceremony.
CREATE TABLE ceremony (
    id TEXT COLLATE "C" PRIMARY KEY,
    person TEXT COLLATE "C",
    body TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX ceremony_expiry ON ceremony (expires_at, id);

-- Snoozed messages of a person (until a time), or archived ones (NULL).
CREATE TABLE shelf (
    person TEXT COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL,
    until BIGINT,
    PRIMARY KEY (person, seq)
);
CREATE INDEX shelf_until ON shelf (person, until, seq);
CREATE INDEX shelf_message ON shelf (seq);

CREATE TABLE setting (
    name TEXT COLLATE "C" PRIMARY KEY,
    value TEXT NOT NULL
);

-- When the agent first fetched the resolution.
CREATE TABLE fetched (
    seq BIGINT PRIMARY KEY,
    at BIGINT NOT NULL
);

-- Lists of terminal messages are read by status, latest first. This index replaces the one by time alone, so a message
-- still costs one index entry.
DROP INDEX message_resolved;
CREATE INDEX message_ended ON message (status, resolved_at, seq) WHERE resolved_at IS NOT NULL;

-- The words of a message; none of a sensitive one. They arrive normalized and separated, so no text search
-- configuration is involved, which might split them differently from SQLite.
CREATE TABLE message_search (
    seq BIGINT PRIMARY KEY,
    words TSVECTOR NOT NULL
);
CREATE INDEX message_search_words ON message_search USING gin (words);

-- The checkpoint of the search index, one row. Messages up to settled are all indexed. Those up to high will be, once
-- every transaction below the horizon has ended: until then one of them may still commit a message with a lower seq.
CREATE TABLE search_mark (
    settled BIGINT NOT NULL,
    high BIGINT NOT NULL,
    horizon BIGINT NOT NULL
);
INSERT INTO search_mark (settled, high, horizon) VALUES (0, 0, 0);

-- The same tables as SQLite's, under the same number; what differs is said in 001, except for the search.

-- An argon2id hash in its own notation; NULL: signs in another way.
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

-- The challenge between the two steps of a passkey.
CREATE TABLE ceremony (
    id TEXT COLLATE "C" PRIMARY KEY,
    person TEXT COLLATE "C",
    body TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX ceremony_expiry ON ceremony (expires_at, id);

-- What a person put away: until an instant (set aside), or for good (NULL: archived).
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

-- Lists of what is over are read by status, the latest first. This takes the place of the index by instant alone, so a
-- message still costs one entry.
DROP INDEX message_resolved;
CREATE INDEX message_ended ON message (status, resolved_at, seq) WHERE resolved_at IS NOT NULL;

-- The words of a message; none of a sensitive one. They come folded and apart, so no text search configuration is asked,
-- which might split them in another way than SQLite does.
CREATE TABLE message_search (
    seq BIGINT PRIMARY KEY,
    words TSVECTOR NOT NULL
);
CREATE INDEX message_search_words ON message_search USING gin (words);

-- How far the search has come. One row. Messages up to settled are all in it. Those up to high will be, once every
-- transaction below the horizon has ended: until then one of them may still commit a message with a lower seq.
CREATE TABLE search_mark (
    settled BIGINT NOT NULL,
    high BIGINT NOT NULL,
    horizon BIGINT NOT NULL
);
INSERT INTO search_mark (settled, high, horizon) VALUES (0, 0, 0);

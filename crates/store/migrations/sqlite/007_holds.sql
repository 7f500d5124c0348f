-- Decisions that their authors can still take back.

-- The author, as an actor, and the end of the hold. Only an open message has them.
ALTER TABLE message ADD COLUMN held_by TEXT;
ALTER TABLE message ADD COLUMN held_until BIGINT;
CREATE INDEX message_held ON message (held_until) WHERE held_until IS NOT NULL;

-- The resolution on hold, under the message's seq. Its files are already in attachment.
CREATE TABLE hold (
    seq INTEGER PRIMARY KEY,
    body TEXT NOT NULL
);

-- How long the person's decisions in an inbox are on hold; NULL: as the hub is configured.
ALTER TABLE person ADD COLUMN undo_seconds BIGINT;

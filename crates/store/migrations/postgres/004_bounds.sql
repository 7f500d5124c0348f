-- The same as in SQLite, under the same number.

-- Quotas for the terminal agents of one person.

-- Removed agents lose their person.
UPDATE terminal SET person = '' WHERE NOT EXISTS (SELECT 1 FROM agent a WHERE a.id = terminal.agent_id);

-- Open cues of the person's agents; a counter, because counting them would grow with their number.
ALTER TABLE person ADD COLUMN cues BIGINT NOT NULL DEFAULT 0;
UPDATE person SET cues = (SELECT COUNT(*) FROM message m JOIN cue c ON c.seq = m.seq
    JOIN terminal t ON t.agent_id = c.agent_id WHERE m.status = 'open' AND t.person = person.name);

-- For counting recent joins.
DROP INDEX terminal_person;
CREATE INDEX terminal_person ON terminal (person, joined_at);

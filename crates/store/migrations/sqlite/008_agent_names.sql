-- Names of agents as people see them.

-- Given by hand; NULL: the agent is called after its runtime and project, or by its id.
ALTER TABLE agent ADD COLUMN name TEXT;

-- Tells agents of one person apart whose runtime and project are the same.
ALTER TABLE terminal ADD COLUMN number BIGINT NOT NULL DEFAULT 1;
UPDATE terminal SET number = (SELECT COUNT(*) FROM terminal t WHERE t.person = terminal.person
    AND t.runtime = terminal.runtime
    -- The last part of the path.
    AND SUBSTR(t.project_dir, LENGTH(RTRIM(t.project_dir, REPLACE(t.project_dir, '/', ''))) + 1)
        = SUBSTR(terminal.project_dir, LENGTH(RTRIM(terminal.project_dir, REPLACE(terminal.project_dir, '/', ''))) + 1)
    AND (t.joined_at, t.agent_id) <= (terminal.joined_at, terminal.agent_id));

-- Terminal agents: their person, their cues, and the texts and files that people give them.

-- An agent that joined from a terminal. A name is used once: the row outlives the agent, so no other agent gets it.
CREATE TABLE terminal (
    agent_id TEXT PRIMARY KEY,
    -- Empty once the person, or the agent, has been removed: nobody's name is.
    person TEXT NOT NULL,
    runtime TEXT NOT NULL,
    project_dir TEXT NOT NULL,
    terminal TEXT NOT NULL,
    joined_at BIGINT NOT NULL
);
CREATE INDEX terminal_person ON terminal (person);

-- A message that came from a terminal, under its seq. The same envelope of the same agent is the same cue.
CREATE TABLE cue (
    seq INTEGER PRIMARY KEY,
    agent_id TEXT NOT NULL,
    envelope BLOB NOT NULL
);
CREATE INDEX cue_envelope ON cue (agent_id, envelope, seq);

-- A type-ahead text that waits for an agent's next cue. Its number is never reused, because people refer to it.
CREATE TABLE ahead (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    agent_id TEXT NOT NULL,
    person TEXT NOT NULL,
    text TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX ahead_agent ON ahead (agent_id, seq);

-- The bytes of the files that came with an answer; their names are in the resolution.
CREATE TABLE attachment (
    message_seq BIGINT NOT NULL,
    idx BIGINT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (message_seq, idx)
);

-- Runs of strategies: their state, events, records of agent calls, and asks.

CREATE TABLE run (
    -- It stands in the other tables instead of the longer id.
    seq INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    strategy_path TEXT NOT NULL,
    strategy_name TEXT NOT NULL,
    cwd TEXT NOT NULL,
    -- A path may be longer than an index takes.
    cwd_sha256 BLOB NOT NULL,
    -- running, completed, error, cancelled
    status TEXT NOT NULL,
    -- 1 for the start; every continuation is the next one.
    segment BIGINT NOT NULL,
    -- working: an agent is at work that nobody may begin again. between: anything else.
    phase TEXT NOT NULL,
    -- Of the segment.
    started_at BIGINT NOT NULL,
    completed_at BIGINT,
    -- No event up to this number is given again, whether it was stored or not.
    last_seq BIGINT NOT NULL,
    -- What is kept, so that nobody has to count it.
    event_count BIGINT NOT NULL,
    event_bytes BIGINT NOT NULL,
    -- Events up to this one are not kept any more.
    pruned_seq BIGINT NOT NULL,
    -- The number of the latest record.
    record_n BIGINT NOT NULL,
    record_count BIGINT NOT NULL,
    record_bytes BIGINT NOT NULL,
    -- Where the segment stands in its flow; empty once it has ended.
    machine TEXT NOT NULL
);
CREATE INDEX run_started ON run (started_at, seq);
CREATE INDEX run_cwd ON run (cwd_sha256, started_at, seq);
CREATE INDEX run_unfinished ON run (seq) WHERE status = 'running';
CREATE INDEX run_ended ON run (completed_at, seq) WHERE completed_at IS NOT NULL;

-- The long text of a run: the strategy and its input. Stored apart from the run row, which changes at every write.
CREATE TABLE run_text (
    seq INTEGER PRIMARY KEY,
    body TEXT NOT NULL
);

-- Events as they were sent to followers.
CREATE TABLE run_event (
    run_seq BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    kind TEXT NOT NULL,
    -- Bytes of the body.
    size BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run_seq, seq)
);

-- One finished call of an agent.
CREATE TABLE run_record (
    run_seq BIGINT NOT NULL,
    n BIGINT NOT NULL,
    size BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run_seq, n)
);

-- A message that a run waits for. Its body is empty once the run has consumed the answer.
CREATE TABLE run_ask (
    message_seq INTEGER PRIMARY KEY,
    run_seq BIGINT NOT NULL,
    segment BIGINT NOT NULL,
    -- The call in the segment that asks.
    number BIGINT NOT NULL,
    done BIGINT NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX run_ask_run ON run_ask (run_seq, done, message_seq);

-- The patterns written by the hub: one answered message of every agent.
CREATE TEMP TABLE pattern AS
SELECT (row_number() OVER (ORDER BY m.seq) - 1)::int AS k, m.*, t.content, t.wire, r.body, s.words,
    asked.actor AS asked_by, asked.event AS asked, told.actor AS told_by, told.event AS told
FROM message m
JOIN message_text t ON t.seq = m.seq
JOIN resolution r ON r.seq = m.resolution_seq
JOIN audit told ON told.seq = m.audit_seq
JOIN audit asked ON asked.seq = told.prev_seq
LEFT JOIN message_search s ON s.seq = m.seq
WHERE m.status = 'answered';

CREATE FUNCTION pg_temp.digest(text) RETURNS bytea LANGUAGE sql IMMUTABLE AS
$$ SELECT sha256(convert_to($1, 'UTF8')) $$;

-- The hash of an audit entry.
CREATE FUNCTION pg_temp.entry(prev bytea, subject text, at bigint, actor text, event text, content bytea, resolution bytea)
RETURNS bytea LANGUAGE sql IMMUTABLE AS
$$ SELECT pg_temp.digest(concat(encode(prev, 'hex'), E'\n', subject, E'\n', at, E'\n', actor, E'\n', event, E'\n',
    encode(content, 'hex'), E'\n', encode(resolution, 'hex'))) $$;

-- An instant in the format of a resolution.
CREATE FUNCTION pg_temp.stamp(bigint) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT to_char(to_timestamp($1 / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;

-- Rebuilt afterwards, which is faster than a million single index updates.
DROP INDEX message_search_words;

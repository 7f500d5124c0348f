-- The messages :first to :last of :all, each a copy of a pattern with its own id, key, instants and hashes.
CREATE TEMP TABLE copy AS
SELECT n, p.agent_id, p.status, p.rev, p.rank, p.source, p.content, p.words, p.asked_by, p.asked, p.told_by, p.told,
    p.received_at - ago AS received_at, p.resolved_at - ago AS resolved_at, made.id, made.key,
    replace(p.wire, p.idempotency_key, made.key) AS wire,
    replace(replace(p.body, p.body::json ->> 'id', 'res_' || substr(md5('resolution' || n), 1, 26)),
        pg_temp.stamp(p.resolved_at), pg_temp.stamp(p.resolved_at - ago)) AS body
FROM generate_series(:first::bigint, :last) n
CROSS JOIN LATERAL (SELECT (:all - n) * 10 AS ago, 'old_' || lpad(n::text, 26, '0') AS key,
    'msg_00' || lpad(n::text, 8, '0') || substr(md5(n::text), 1, 16) AS id) made
JOIN pattern p ON p.k = n % (SELECT count(*) FROM pattern);

INSERT INTO resolution (seq, body) SELECT :seq + n, body FROM copy ORDER BY n;

WITH asked AS (
    SELECT n, pg_temp.digest(coalesce(content, wire)) AS content_sha256, pg_temp.digest(body) AS resolution_sha256 FROM copy
), hashed AS (
    SELECT c.*, a.content_sha256, a.resolution_sha256,
        pg_temp.entry(NULL, c.id, c.received_at, c.asked_by, c.asked, a.content_sha256, NULL) AS first_hash
    FROM copy c JOIN asked a USING (n)
)
INSERT INTO audit (seq, subject, n, prev_seq, at, actor, event, content_sha256, resolution_sha256, hash)
SELECT :audit + 2 * n - 1, id, 1, NULL, received_at, asked_by, asked, content_sha256, NULL, first_hash FROM hashed
UNION ALL
SELECT :audit + 2 * n, id, 2, :audit + 2 * n - 1, resolved_at, told_by, told, content_sha256, resolution_sha256,
    pg_temp.entry(first_hash, id, resolved_at, told_by, told, content_sha256, resolution_sha256) FROM hashed
ORDER BY 1;

INSERT INTO message (seq, id, agent_id, status, rev, rank, received_at, resolved_at, idempotency_key, audit_seq, source,
    resolution_seq)
SELECT :seq + n, id, agent_id, status, rev, rank, received_at, resolved_at, key, :audit + 2 * n, source, :seq + n
FROM copy ORDER BY n;
INSERT INTO message_text (seq, content, wire) SELECT :seq + n, content, wire FROM copy ORDER BY n;
INSERT INTO message_search (seq, words) SELECT :seq + n, words FROM copy ORDER BY n;
DROP TABLE copy;

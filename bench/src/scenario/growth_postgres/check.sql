-- The number of rows of the hub that these functions would have made differently.
SELECT count(*) FROM pattern p
JOIN audit told ON told.seq = p.audit_seq
JOIN audit asked ON asked.seq = told.prev_seq
WHERE asked.hash <> pg_temp.entry(NULL, p.id, asked.at, asked.actor, asked.event, asked.content_sha256, NULL)
   OR told.hash <> pg_temp.entry(asked.hash, p.id, told.at, told.actor, told.event, told.content_sha256, told.resolution_sha256)
   OR told.content_sha256 <> pg_temp.digest(coalesce(p.content, p.wire))
   OR told.resolution_sha256 <> pg_temp.digest(p.body)
   OR told.at <> p.resolved_at OR asked.at <> p.received_at
   OR position(pg_temp.stamp(p.resolved_at) IN p.body) = 0
   OR position(p.idempotency_key IN p.wire) = 0
   OR p.words IS NULL OR p.callback IS NOT NULL OR p.audit_hash IS NOT NULL

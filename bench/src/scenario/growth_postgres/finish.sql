SELECT setval(pg_get_serial_sequence(name, 'seq'), top)
FROM (SELECT 'message' AS name, max(seq) AS top FROM message
    UNION ALL SELECT 'resolution', max(seq) FROM resolution
    UNION ALL SELECT 'audit', max(seq) FROM audit) tops;
UPDATE search_mark SET settled = top, high = top FROM (SELECT max(seq) AS top FROM message) tops;
SET maintenance_work_mem = '256MB';
CREATE INDEX message_search_words ON message_search USING gin (words);

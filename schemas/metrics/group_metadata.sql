-- Record types 3, 11 and 17: epochs of consumer, share and streams groups.
-- num_values: Records that are not tombstones.
-- largest_record_bytes: Size of the largest record in bytes; NULL if there are no rows.
SELECT {keys}, count(*) FILTER (WHERE NOT is_tombstone) AS num_values, max(record_bytes) AS largest_record_bytes
FROM judged

-- How much of the log could be decoded.
-- num_kinds: Number of rows: combinations of record type, value version and outcome.
-- num_malformed: Records that are malformed.
-- num_unknown: Records of types or versions that this release of Groupscope does not know.
-- coverage_share: Decoded records divided by all records, 0 to 1; NULL if there are no records.
-- limit coverage_share info: 0.999 to 1
SELECT count(*) AS num_kinds, coalesce(sum(num_records) FILTER (WHERE outcome = 'malformed'), 0) AS num_malformed,
  coalesce(sum(num_records) FILTER (WHERE outcome = 'unknown'), 0) AS num_unknown,
  max(coverage_share) AS coverage_share
FROM judged

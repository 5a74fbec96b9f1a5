-- Recorded assignments, compared with those that Kafka's assignors give.
-- rows due if: rebalances.num_assignments
-- num_drift: Assignments that Kafka's assignor does not give, with any release or input that was tried.
-- limit num_drift info as assignment_drift: 0, rows by SELECT * FROM assignment_audit WHERE cluster = :cluster AND
--   verdict = 'drift'
-- num_not_recomputable: Assignments that cannot be recomputed, because an input is unknown.
-- num_stale_inputs: Assignments whose leader had stale metadata, by snapshots before and after.
-- num_unconfirmed: Assignments that are the same only for topics or partition counts that nothing confirms.
-- num_defects: Assignments that show the signs of a known defect of Kafka or of a client library.
-- rows_failing_owned_twice: Assignments in which a partition has more owners than the assignor allows.
-- rule owned_twice warning as replay_anomaly: num_owned_twice > 0
-- rows_failing_nonexistent: Assignments with partitions that their topic does not have, though the leader's metadata
--   were not stale.
-- rule nonexistent warning: num_nonexistent > 0 AND verdict <> 'stale_input'
SELECT {keys}, count(*) FILTER (WHERE verdict = 'drift') AS num_drift,
  count(*) FILTER (WHERE verdict = 'not_recomputable') AS num_not_recomputable,
  count(*) FILTER (WHERE verdict = 'stale_input') AS num_stale_inputs,
  count(*) FILTER (WHERE verdict = 'same_unconfirmed') AS num_unconfirmed,
  count(*) FILTER (WHERE known_defect IS NOT NULL) AS num_defects, :rules
FROM judged

-- Which partitions have stopped, since when, and do the other partitions of the group still advance?
SELECT group_id, topic, partition, own_verdict, since_time, last_commit_time, lag, is_only_one, reason
FROM v_group_verdict
WHERE own_verdict IN ('STOP', 'STALL', 'REWIND') AND partition IS NOT NULL
ORDER BY rank;

-- Who or what moved offsets backwards, or to the start or end of the log?
SELECT at_time, group_id, topic, kind, actor, num_partitions, messages_reread, messages_skipped, signature_score
FROM v_offset_resets
ORDER BY rank;

-- Whose offsets expire within the next three days, and how many messages their readers would read again or skip?
SELECT group_id, topic, partition, rule, expires_time, hours_left, messages_at_risk, blocked_by_transaction
FROM v_expiry_forecast
WHERE hours_left <= 72
ORDER BY rank;

-- Who fills __consumer_offsets, and what would one commit every 5 seconds save?
SELECT offsets_partition, group_id, commits_per_s, bytes_per_day, share_of_bytes, share_unchanged, peak_per_minute,
  bytes_saved_per_day_at_5_s
FROM v_commit_volume
WHERE rank <= 20
ORDER BY rank;

-- Is the offsets topic being compacted, or does an open transaction prevent it?
SELECT offsets_partition, num_records, commit_bytes, share_live, num_old_tombstones, complete_from_time,
  num_open_transactions, oldest_open_ms
FROM v_offsets_topic_health
ORDER BY rank;

-- Which groups have had no member and no commit for longer than dead_group_days of the settings?
SELECT group_id, group_type, protocol_type, since_time, last_commit_time, num_topics, num_offsets
FROM v_inventory
WHERE is_dead AND NOT is_tool
ORDER BY rank;

-- Which applications read the topic orders?
SELECT group_id, client_ids, client_hosts, first_seen_time, last_seen_time, is_subscribed_only, is_committed_only
FROM v_topic_consumers
WHERE topic = 'orders'
ORDER BY group_id;

-- Which partitions have no reader?
SELECT topic, group_id, num_partitions, num_committed, num_owned, uncommitted, unowned
FROM v_partition_coverage
WHERE num_committed < num_partitions
ORDER BY rank;

-- Which groups have records close to the largest batch that the broker accepts?
SELECT group_id, group_type, num_members, record_table, batch_bytes, share_written, limit_bytes, share_of_limit
FROM v_record_headroom
WHERE share_of_limit > 0.5
ORDER BY rank;

-- Of which topics were messages read again or skipped, and on which days?
SELECT day_time, topic, num_groups, num_resets, num_rewinds, messages_reread, messages_skipped, num_unknown
FROM v_replay_spans
ORDER BY rank;

-- Which offsets did a migration leave out, or set to another position?
SELECT cluster, other_cluster, group_id, topic, partition, committed_offset, other_committed_offset, difference, basis
FROM v_cluster_diff
WHERE basis <> 'no_ends'
ORDER BY cluster, other_cluster, rank;

-- Was every committed span validated? Groups and topics with commits that bypassed the gate, worst first.
SELECT group_id, topic, share_gated, num_ungated_messages, num_ungated_commits, first_span_time
FROM v_gate_coverage
WHERE num_ungated_messages > 0
ORDER BY rank;

-- Which commits bypassed the gate, and who owned the partition then?
SELECT commit_time, group_id, topic, partition, previous_offset, committed_offset, num_ungated_messages, member_id,
  client_host, gated_later_time
FROM v_ungated_commits
WHERE is_topic_gated
ORDER BY rank;

-- Are there gaps that no span covers, or overlaps of consecutive spans, and why?
SELECT group_id, topic, partition, previous_end_offset, from_offset, num_gap, num_overlap, cause, recorded_time
FROM v_gate_spans
WHERE num_gap > 0 OR num_overlap > 0
ORDER BY rank;

-- Do rows written differ from rows expected? Spans that differ by more than one row in a hundred.
SELECT group_id, topic, partition, from_offset, to_offset, num_rows_expected, num_rows_written, deviation
FROM v_gate_spans
WHERE abs(deviation) > 0.01
ORDER BY abs(deviation) DESC, group_id, topic, partition, from_offset;

-- Which failed spans were accepted by an override, by whom, and until when?
SELECT group_id, topic, partition, from_offset, to_offset, override_reason, actor, until_time, recorded_time
FROM gate_spans
WHERE verdict = 'overridden'
ORDER BY recorded_time DESC, group_id, topic, partition, from_offset;

-- Is the data fresh enough? Days that missed the objective of the settings, or had a 95th percentile above 5 minutes.
SELECT day_time, group_id, topic, objective_ms, is_met, budget_left, num_minutes_over, num_minutes_known,
  time_lag_ms_p95, time_lag_ms_max, time_lag_method
FROM v_freshness_slo
WHERE NOT is_met OR time_lag_ms_p95 > 300000
ORDER BY rank;

-- How large was the lag of each group and topic on each day?
SELECT day_time, group_id, topic, lag_p50, lag_p95, lag_max, num_minutes_unknown
FROM v_lag_daily
ORDER BY group_id, topic, day_time;

-- Is quality getting worse? Expectations that fail far more often than in the previous 28 days.
SELECT day_time, suite, expectation, column_name, share_failing, share_failing_28_days, z_score
FROM v_expectation_daily
WHERE z_score > 3
ORDER BY day_time DESC, z_score DESC;

-- Which expectations are too strict, and which too loose?
SELECT DISTINCT suite, expectation, column_name, is_always_failing, is_never_failing
FROM v_expectation_daily
WHERE is_always_failing OR is_never_failing
ORDER BY suite, expectation, column_name;

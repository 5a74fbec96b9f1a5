--- What views over the history share, some of it with findings: between which times a cluster is known, the present
--- states of groups, and settings.

-- columns rank
--   rank bigint  1: the worst row of the cluster.

-- columns as_of
--   as_of_time timestamp  The as-of time: time of the newest record or snapshot of the cluster.
--   history_since_time timestamp  Time of the oldest record of the cluster.

-- columns unread
--   unread_partition_low_ms bigint  Sum of unread_partition_low_ms of these rebalances; NULL: no partition stopped.
--   unread_partition_high_ms bigint  Sum of unread_partition_high_ms of these rebalances; NULL: no partition stopped.
--   longest_unread_high_ms bigint  The largest longest_unread_high_ms of these rebalances; NULL: no partition stopped.

-- part unread_sums: What rebalances cost together.
{capped_total unread_partition_low_ms} AS unread_partition_low_ms,
    {capped_total unread_partition_high_ms} AS unread_partition_high_ms,
    max(longest_unread_high_ms) AS longest_unread_high_ms

-- part clusters: A common table expression: the contract's as-of is the newest record or snapshot.
clusters AS (
  SELECT known.cluster, known.since_time AS history_since_time,
    CASE WHEN captured.newest_time > known.newest_time THEN captured.newest_time
      ELSE known.newest_time END AS as_of_time
  FROM (
    SELECT cluster, min(from_time) AS since_time, max(to_time) AS newest_time FROM history_coverage GROUP BY cluster
  ) AS known
  LEFT JOIN (
    SELECT cluster, max(captured_time) AS newest_time FROM topic_snapshots GROUP BY cluster
  ) AS captured ON captured.cluster = known.cluster
)

-- part newest_partition: Of intervals that hold at a time. A group may have records in several offsets partitions: the
-- one that it wrote to last is that of its coordinator.
first_value(held.evidence_partition) OVER (
      PARTITION BY held.cluster, held.group_id ORDER BY held.from_time DESC NULLS LAST, held.evidence_partition
    )

-- part one_state_each(name, held): A common table expression: one state of each group. `held`: a subquery of all states
-- that hold at a time.
{name} AS (
  SELECT states.*
  FROM (
    SELECT held.*, {newest_partition} AS newest_partition
    FROM {held} AS held
  ) AS states
  WHERE evidence_partition = newest_partition
)

-- part present_states: The state of each group now.
{one_state_each present_states, (SELECT * FROM group_state_intervals WHERE to_record_offset IS NULL)}

-- part members: Members of the newest assignment of each group, with what they subscribe to.
newest AS (
  SELECT cluster, group_id, max(assignment_offset) AS assignment_offset
  FROM generation_members
  GROUP BY cluster, group_id
),
members AS (
  SELECT member.cluster, member.group_id, member.subscribed_topics
  FROM generation_members AS member
  JOIN newest ON {same_assignment newest, member}
  WHERE member.change <> 'left'
)

-- part shown_run: In `gate_runs` of a cluster: the run whose findings are shown, which is the newest whole one. While
-- there is none, the newest narrowed one is.
coalesce(max(CASE WHEN narrowed_by IS NULL THEN run_id END), max(run_id))

-- part limit(setting): In a common table expression `limits` of `gate_limits`: a setting of [gate], as the newest gate
-- run of each cluster used it. A cluster without such a run has no row.
max(CASE WHEN setting = '{setting}' THEN value END) AS {setting}

-- part newest_settings: Settings of each cluster, of its newest snapshot that has any.
newest_settings AS (
  SELECT cluster, settings
  FROM (
    SELECT cluster, settings, row_number() OVER (PARTITION BY cluster ORDER BY captured_time DESC) AS place
    FROM cluster_snapshots
    WHERE settings IS NOT NULL
  ) AS placed
  WHERE place = 1
)

-- part number_setting(name): NULL where it is not captured. Trino fails for a key that a map does not have.
TRY_CAST(CASE WHEN coalesce(array_position(map_keys(settings), '{name}'), 0) > 0 THEN settings['{name}'] END AS BIGINT)

-- part ends: How logs of topics begin and end, of the newest snapshot that has the end of the partition.
ends AS (
  SELECT cluster, topic, partition, log_start_offset, log_end_offset
  FROM (
    SELECT cluster, topic, partition, log_start_offset, log_end_offset,
      row_number() OVER (PARTITION BY cluster, topic, partition ORDER BY captured_time DESC) AS place
    FROM topic_snapshots
    WHERE log_end_offset IS NOT NULL
  ) AS placed
  WHERE place = 1
)

-- part may_exist: A record may name any number of a partition. No cluster can hold more partitions.
partition >= 0 AND partition < 20000000

-- part judged_now: Verdicts of the newest as-of time. A group may have records in several offsets partitions: those
-- that it wrote last count, as for findings.
newest AS (
  SELECT cluster AS of_cluster, max(as_of_time) AS newest_time
  FROM group_verdicts
  GROUP BY cluster
),
judged AS (
  SELECT *
  FROM (
    SELECT verdicts.*, first_value(evidence_partition) OVER (
      PARTITION BY cluster, group_id ORDER BY last_commit_time DESC NULLS LAST, evidence_partition
    ) AS newest_partition
    FROM group_verdicts AS verdicts
    JOIN newest ON of_cluster = cluster AND newest_time = as_of_time
  ) AS placed
  WHERE evidence_partition = newest_partition
)

-- part held_now(table): Intervals that hold at the as-of time.
(
    SELECT intervals.*
    FROM {table} AS intervals
    JOIN newest ON of_cluster = cluster
    WHERE (from_time IS NULL OR from_time <= newest_time) AND (to_record_offset IS NULL OR to_time > newest_time)
  )

-- part by_recording: The order of the spans of a partition.
recorded_time, from_offset, to_offset, verdict, result_hash, num_rows_written NULLS FIRST

-- part begin_of_finding: When the event or condition began, or was first seen.
coalesce(found.at_time, found.since_time, found.first_seen_time)

-- part same_streak(one, other): Of the same rebalances in a row.
{one}.cluster = {other}.cluster AND {one}.group_id = {other}.group_id
    AND {one}.evidence_partition = {other}.evidence_partition AND {one}.streak = {other}.streak

-- part same_expectation(one, other): Of the same expectation of a suite.
{one}.cluster = {other}.cluster AND {one}.suite = {other}.suite
    AND {one}.expectation = {other}.expectation AND {one}.column_name = {other}.column_name

-- part decoded_rows(table, record_type, marker, reason, number): One row a record, or a range of bytes. What it lacks
-- is an empty text until the rows are counted: NULL alone has no type that every engine knows.
  SELECT cluster, offsets_partition, record_offset, record_time, value_version, '{table}' AS table_name,
    {record_type} AS record_type, {marker} AS marker, {reason} AS reason,
    CAST({number} AS BIGINT) AS number
  FROM {table}

-- part record_sizes(table, member): `member`: what tells apart the records of a group. A classic one has one record,
-- with all its members.
  SELECT cluster, group_id, '{table}' AS record_table, {member} AS member_id, offsets_partition, record_offset,
    record_time, record_bytes, batch_bytes, is_tombstone, coalesce(batch_first_offset, record_offset) AS batch_offset
  FROM {table}

-- part ranked(rows, order): The last rows of a view: with their place in the cluster, worst first.
ranked AS (
  SELECT {rows}.*, {rank {order}} AS rank
  FROM {rows}
)

-- part rank(order): The place of a row in its cluster.
CAST(row_number() OVER (PARTITION BY cluster ORDER BY {order}) AS BIGINT)

-- part same_group(one, other): Of the same group, by the records of one offsets partition.
{one}.group_id = {other}.group_id AND {one}.evidence_partition = {other}.evidence_partition

-- part same_topic_of_group(one, other): Of a topic of the same group.
{same_group {one}, {other}} AND {one}.topic = {other}.topic

-- part same_assignment(one, other): Of the same assignment of a group.
{one}.cluster = {other}.cluster AND {one}.group_id = {other}.group_id
    AND {one}.assignment_offset = {other}.assignment_offset

-- part by_group_type(consumer, share, streams): A record type, of tables with the records of several types of groups.
CASE group_type WHEN 'consumer' THEN {consumer} WHEN 'share' THEN {share} WHEN 'streams' THEN {streams} END

"""The view v_failovers: each change of the coordinator of an offsets partition, what the new one did not have, and
where the groups were when the old one failed.

A leader that was alone, or that did not know that it had lost its office, wrote records that its successor does not
have. They are in copies of its log, and so in the decoded tables. Records that the cleaner took are no such records:
the successor's log has nothing else at their offsets."""

from schemas.tables import GROUPS, SUBJECTS, Column, ListOf, Type
from schemas.views.parts import AS_OF, CLUSTERS, CLUSTERS_READ, RANK, column_list, how_many, seconds_between, total
from schemas.words.history import Confidence, FailureCase, GroupState
from schemas.words.records import OFFSETS_TOPIC, Marker

COMMITS, GENERATIONS, TARGETS, MARKERS = (
    "offset_commits", "classic_group_metadata", "target_assignment_metadata", "transaction_markers",
)  # fmt: skip
# What a lost record was.
COMMIT, DELETION, GENERATION, MARKER, OTHER = "commit", "deletion", "generation", "marker", "other"
RECORD_TABLES = tuple(table.name for table in SUBJECTS["decoded"])
TOMBSTONE = f"CASE WHEN is_tombstone THEN '{DELETION}' ELSE"
# By table: what the record was, and its generation or target epoch. The others only delete or are something else.
KINDS = {
    COMMITS: (f"{TOMBSTONE} '{COMMIT}' END", "CAST(NULL AS INT)"),
    # Generation 0 is that of a group that somebody asked for, and nobody joined.
    GENERATIONS: (f"{TOMBSTONE} CASE WHEN generation = 0 THEN '{OTHER}' ELSE '{GENERATION}' END END", "generation"),
    TARGETS: (f"{TOMBSTONE} '{GENERATION}' END", "assignment_epoch"),
    MARKERS: (f"CASE WHEN marker = '{Marker.COMMIT}' THEN '{MARKER}' ELSE '{OTHER}' END", "CAST(NULL AS INT)"),
    "rejected_records": (f"'{OTHER}'", "CAST(NULL AS INT)"),
}
KIND_OF_OTHERS = f"{TOMBSTONE} '{OTHER}' END", "CAST(NULL AS INT)"
WITHOUT_GROUP = (MARKERS, "rejected_records")


def places(table: str) -> str:
    return f"""\
    SELECT cluster, offsets_partition, partition_leader_epoch, record_offset FROM {table}"""


def records(table: str) -> str:
    kind, generation = KINDS.get(table, KIND_OF_OTHERS)
    group = "CAST(NULL AS STRING) AS group_id" if table in WITHOUT_GROUP else "group_id"
    return f"""\
    SELECT cluster, offsets_partition, partition_leader_epoch, record_offset, record_time, {group},
      {kind} AS kind, {generation} AS generation
    FROM {table}"""


UNION = "\n    UNION ALL\n"
OF_FAILOVER = "cluster, offsets_partition, new_leader_epoch"
# Common table expressions, for the finding too. `lost_records`: what each failover lost, and the groups that lost the
# most. Of most clusters nothing is lost: then only the offsets are looked at. Each is read once: Spark computes again
# what is read twice.
LOST_READ = (*RECORD_TABLES, "coordinator_epochs")
LOST = f"""\
found AS (
  SELECT cluster, offsets_partition, partition_leader_epoch, max(record_offset) AS last_offset
  FROM (
{UNION.join(map(places, RECORD_TABLES))}
  ) AS every_place
  WHERE partition_leader_epoch IS NOT NULL
  GROUP BY cluster, offsets_partition, partition_leader_epoch
),
-- An epoch is cut off where the next one that has records begins. All later ones begin after that.
cut_off AS (
  SELECT found.cluster, found.offsets_partition, found.partition_leader_epoch,
    min(begun.partition_leader_epoch) AS new_leader_epoch, min(begun.first_offset) AS cut_offset
  FROM found
  JOIN coordinator_epochs AS begun ON begun.cluster = found.cluster
    AND begun.offsets_partition = found.offsets_partition
    AND begun.partition_leader_epoch > found.partition_leader_epoch
  GROUP BY found.cluster, found.offsets_partition, found.partition_leader_epoch
  HAVING max(found.last_offset) >= min(begun.first_offset)
),
lost AS (
  SELECT cut.cluster, cut.offsets_partition, new_leader_epoch, cut_offset, record_offset, record_time, group_id, kind,
    CASE kind WHEN '{GENERATION}' THEN generation END AS generation
  FROM (
{UNION.join(map(records, RECORD_TABLES))}
  ) AS every_record
  JOIN cut_off AS cut ON cut.cluster = every_record.cluster
    AND cut.offsets_partition = every_record.offsets_partition
    AND cut.partition_leader_epoch = every_record.partition_leader_epoch AND record_offset >= cut_offset
),
by_generation AS (
  SELECT {OF_FAILOVER}, cut_offset, group_id, generation, count(*) AS num_records,
    min(record_offset) AS begin_offset, max(record_offset) AS last_offset,
    min(record_time) AS earliest_time, max(record_time) AS latest_time,
    {how_many(f"kind = '{COMMIT}'")} AS num_commits, {how_many(f"kind = '{DELETION}'")} AS num_deletions,
    {how_many(f"kind = '{MARKER}'")} AS num_markers,
    max(CASE kind WHEN '{COMMIT}' THEN record_offset END) AS commit_offset
  FROM lost
  GROUP BY {OF_FAILOVER}, cut_offset, group_id, generation
),
-- What else the groups wrote of generations and targets, where that counts. A tombstone has none.
written AS (
  SELECT every.cluster, every.offsets_partition, every.group_id, every.record_offset, generation
  FROM (
    SELECT cluster, offsets_partition, partition_leader_epoch, record_offset, group_id,
      coalesce(generation, -1) AS generation
    FROM {GENERATIONS}
    UNION ALL
    SELECT cluster, offsets_partition, partition_leader_epoch, record_offset, group_id,
      coalesce(assignment_epoch, -1) AS generation
    FROM {TARGETS}
  ) AS every
  LEFT JOIN coordinator_epochs AS term ON term.cluster = every.cluster
    AND term.offsets_partition = every.offsets_partition
    AND term.partition_leader_epoch = every.partition_leader_epoch
  WHERE every.partition_leader_epoch IS NULL
    OR every.record_offset BETWEEN term.first_offset AND term.last_offset
),
-- When a static member returns, the coordinator writes the same generation again. That one is not lost.
checked AS (
  SELECT gone.cluster, gone.offsets_partition, new_leader_epoch, cut_offset, gone.group_id, gone.generation,
    num_records, begin_offset, last_offset, earliest_time, latest_time, num_commits, num_deletions, num_markers,
    commit_offset, gone.generation IS NOT NULL
      AND coalesce(max_by(written.generation, written.record_offset), -1) <> gone.generation AS is_lost_generation
  FROM by_generation AS gone
  LEFT JOIN written ON written.cluster = gone.cluster AND written.offsets_partition = gone.offsets_partition
    AND written.group_id = gone.group_id AND written.record_offset < cut_offset
  GROUP BY gone.cluster, gone.offsets_partition, new_leader_epoch, cut_offset, gone.group_id, gone.generation,
    num_records, begin_offset, last_offset, earliest_time, latest_time, num_commits, num_deletions, num_markers,
    commit_offset
),
-- A coordinator accepts no commit between a generation and its record: whoever committed after it worked by it.
worked AS (
  SELECT checked.*, is_lost_generation AND coalesce(max(commit_offset) OVER (
      PARTITION BY {OF_FAILOVER}, group_id
    ) > begin_offset, FALSE) AS is_worked_by
  FROM checked
),
by_group AS (
  SELECT {OF_FAILOVER}, min(cut_offset) AS cut_offset, group_id, {total("num_records")} AS num_records,
    max(last_offset) AS last_offset, min(earliest_time) AS earliest_time, max(latest_time) AS latest_time,
    {total("num_commits")} AS num_commits, {total("num_deletions")} AS num_deletions,
    {total("num_markers")} AS num_markers, {how_many("is_lost_generation")} AS num_generations,
    {how_many("is_worked_by")} AS num_worked_by
  FROM worked
  GROUP BY {OF_FAILOVER}, group_id
),
placed AS (
  SELECT by_group.*, row_number() OVER (
      PARTITION BY {OF_FAILOVER}
      ORDER BY CASE WHEN group_id IS NULL THEN 1 ELSE 0 END, num_generations DESC, num_commits DESC, group_id
    ) AS place
  FROM by_group
),
lost_records AS (
  SELECT {OF_FAILOVER}, min(cut_offset) AS first_lost_offset, max(last_offset) AS last_lost_offset,
    min(earliest_time) AS first_lost_time, max(latest_time) AS last_lost_time,
    {total("num_records")} AS num_records_lost, {total("num_commits")} AS num_commits_lost,
    {total("num_deletions")} AS num_deletions_lost, {total("num_markers")} AS num_markers_lost,
    {total("num_generations")} AS num_generations_lost, {total("num_worked_by")} AS num_worked_by,
    count(group_id) AS num_groups_lost, CASE WHEN count(group_id) > 0
      THEN array_sort(array_agg(DISTINCT group_id) FILTER (WHERE group_id IS NOT NULL)) END AS groups,
    max(CASE place WHEN 1 THEN group_id END) AS first_group, max(CASE place WHEN 2 THEN group_id END) AS second_group,
    max(CASE place WHEN 3 THEN group_id END) AS third_group
  FROM placed
  GROUP BY {OF_FAILOVER}
)"""


def of_failover(left: str, right: str, epoch: str = "new_leader_epoch") -> str:
    """The condition of a join. `epoch`: the name of the column on the right."""
    same = " AND ".join(f"{left}.{name} = {right}.{name}" for name in ("cluster", "offsets_partition"))
    return f"{same} AND {left}.new_leader_epoch = {right}.{epoch}"


COLUMNS = (
    *GROUPS["CLUSTER"],
    RANK,
    *GROUPS["OFFSETS_PARTITION"],
    Column("failover_time", Type.TIMESTAMP, "Time of the first record of the new leader epoch; NULL: it has none."),
    Column("old_leader_epoch", Type.INT, "The leader epoch before, of which records count; NULL: none is known."),
    Column("new_leader_epoch", Type.INT, "The new leader epoch."),
    Column("old_coordinator", Type.INT, "Id of the broker that was the coordinator before: by a snapshot that names "
           "the leader of this leader epoch, or that lies between two records of it. NULL: none does."),
    Column("new_coordinator", Type.INT, "Id of the broker that was the coordinator from then on, by the same rule. It "
           "may be the same broker, elected again. NULL: no snapshot shows it."),
    Column("last_record_time", Type.TIMESTAMP, "Time of the last record before that still counts; NULL: none is known "
           "right before, or it has no time."),
    Column("gap_ms", Type.BIGINT, "How long nothing was written: from last_record_time to failover_time, in "
           "milliseconds (whole seconds only). NULL: one of them is unknown, part of the log between them was never "
           "read, or the new broker's clock is behind."),
    Column("is_gap_exact", Type.BOOLEAN, "TRUE: no offset is missing between these two records. FALSE: records between "
           "them may have been compacted, so the gap may have been shorter. NULL: gap_ms is NULL."),
    Column("num_groups", Type.BIGINT, "Groups that existed in the offsets partition then."),
    Column("failure_case", Type.STRING, "What the groups were doing when the old coordinator failed: the worst case "
           "that records show; dim_enum explains the values. NULL: the log does not show it."),
    Column("failure_case_confidence", Type.STRING, "How sure failure_case is: certain or likely; NULL: there is none."),
    Column("num_records_lost", Type.BIGINT, "Records of lower leader epochs at or after the first record of the new "
           "one: a copy of the log has them, and the new coordinator's log has not. 0: no copy that was read has any. "
           "Records that the cleaner removed do not count."),
    Column("num_commits_lost", Type.BIGINT, "Of these, offset commits."),
    Column("num_generations_lost", Type.BIGINT, "Generations of classic groups, and targets of others, among them "
           "that the new coordinator does not know. Their numbers may be used again."),
    Column("num_deletions_lost", Type.BIGINT, "Of these, tombstones: what they deleted is back."),
    Column("num_markers_lost", Type.BIGINT, "Of these, COMMIT markers of transactions: their commits wait again."),
    Column("num_groups_lost", Type.BIGINT, "Groups of these records."),
    Column("groups", ListOf(Type.STRING), "These groups, by name; NULL: none."),
    Column("first_lost_time", Type.TIMESTAMP, "Time of the earliest of these records; NULL: none, or without time."),
    Column("last_lost_time", Type.TIMESTAMP, "Time of the latest of these records; NULL: none, or without time."),
    Column("evidence_partition", Type.INT, "The same as offsets_partition."),
    Column("evidence_first_offset", Type.BIGINT, "Offset of the first record of the new leader epoch."),
    Column("evidence_last_offset", Type.BIGINT, "Offset of the last overwritten record; none: evidence_first_offset."),
    *AS_OF,
)  # fmt: skip
READS = (
    *LOST_READ, "group_state_intervals", "rebalances", "cluster_snapshots", "topic_snapshots", *CLUSTERS_READ,
    # A table has the name of the column of cluster_snapshots.
    "offsets_partitions",
)  # fmt: skip
SQL = f"""\
WITH {CLUSTERS},
{LOST},
terms AS (
  SELECT cluster, offsets_partition, partition_leader_epoch AS new_leader_epoch, first_offset, last_offset,
    from_time AS failover_time,
    lag(partition_leader_epoch) OVER (PARTITION BY cluster, offsets_partition ORDER BY partition_leader_epoch)
      AS old_leader_epoch,
    lag(last_offset) OVER (PARTITION BY cluster, offsets_partition ORDER BY partition_leader_epoch) AS before_offset,
    lag(to_time) OVER (PARTITION BY cluster, offsets_partition ORDER BY partition_leader_epoch) AS last_record_time
  FROM coordinator_epochs
),
failovers AS (
  SELECT terms.*, coalesce(num_records_lost, 0) AS num_records_lost, coalesce(num_commits_lost, 0) AS num_commits_lost,
    coalesce(num_deletions_lost, 0) AS num_deletions_lost, coalesce(num_markers_lost, 0) AS num_markers_lost,
    coalesce(num_generations_lost, 0) AS num_generations_lost, coalesce(num_worked_by, 0) AS num_worked_by,
    coalesce(num_groups_lost, 0) AS num_groups_lost, groups, first_lost_time, last_lost_time,
    terms.offsets_partition AS evidence_partition, first_offset AS evidence_first_offset,
    coalesce(last_lost_offset, first_offset) AS evidence_last_offset
  FROM terms
  LEFT JOIN lost_records ON {of_failover("lost_records", "terms")}
  WHERE old_leader_epoch IS NOT NULL OR num_records_lost > 0
),
captured AS (
  SELECT snapshots.cluster, snapshots.captured_time, map_from_entries(offsets_partitions) AS leaders
  FROM cluster_snapshots AS snapshots
  WHERE offsets_partitions IS NOT NULL
),
led AS (
  SELECT epochs.cluster, epochs.offsets_partition, epochs.partition_leader_epoch,
    CASE WHEN coalesce(array_position(map_keys(leaders), epochs.offsets_partition), 0) > 0
      THEN leaders[epochs.offsets_partition] END AS leader
  FROM coordinator_epochs AS epochs
  JOIN captured ON captured.cluster = epochs.cluster
  LEFT JOIN topic_snapshots AS ends ON ends.cluster = epochs.cluster AND ends.topic = '{OFFSETS_TOPIC}'
    AND ends.partition = epochs.offsets_partition AND ends.captured_time = captured.captured_time
  WHERE ends.leader_epoch = epochs.partition_leader_epoch
    OR (ends.leader_epoch IS NULL AND captured.captured_time BETWEEN from_time AND to_time)
),
-- An epoch has one leader. If snapshots disagree, one of them is of another time than it says.
leaders AS (
  SELECT cluster, offsets_partition, partition_leader_epoch, max(leader) AS leader
  FROM led
  GROUP BY cluster, offsets_partition, partition_leader_epoch
  HAVING max(leader) = min(leader)
),
there AS (
  SELECT DISTINCT terms.cluster, offsets_partition, new_leader_epoch, first_offset, last_offset, states.group_id,
    states.state
  FROM terms
  JOIN group_state_intervals AS states ON states.cluster = terms.cluster
    AND states.evidence_partition = terms.offsets_partition AND states.from_offset < first_offset
    AND (states.to_offset IS NULL OR states.to_offset >= first_offset)
),
next_rebalances AS (
  SELECT there.cluster, offsets_partition, new_leader_epoch, there.group_id, min(assignment_offset) AS next_offset
  FROM there
  JOIN rebalances AS after ON after.cluster = there.cluster AND after.group_id = there.group_id
    AND after.evidence_partition = there.offsets_partition AND assignment_offset BETWEEN first_offset AND last_offset
  GROUP BY there.cluster, offsets_partition, new_leader_epoch, there.group_id
),
first_commits AS (
  SELECT cluster, offsets_partition, partition_leader_epoch, group_id, min(record_offset) AS commit_offset
  FROM {COMMITS}
  WHERE NOT is_tombstone
  GROUP BY cluster, offsets_partition, partition_leader_epoch, group_id
),
-- Members that go on commit to the new coordinator; those of a round that it does not know must join again first.
judged AS (
  SELECT there.cluster, there.offsets_partition, there.new_leader_epoch, there.group_id, state,
    CASE WHEN commit_offset <= last_offset THEN next_offset IS NULL OR commit_offset < next_offset
      ELSE state = '{GroupState.EMPTY}' AND next_offset IS NULL END AS is_stable
  FROM there
  LEFT JOIN next_rebalances ON {of_failover("next_rebalances", "there")} AND next_rebalances.group_id = there.group_id
  LEFT JOIN first_commits ON {of_failover("there", "first_commits", "partition_leader_epoch")}
    AND first_commits.group_id = there.group_id
),
of_groups AS (
  SELECT {OF_FAILOVER}, count(DISTINCT group_id) AS num_groups,
    {how_many(f"state = '{GroupState.PREPARING_REBALANCE}'")} AS num_joining,
    {how_many("NOT coalesce(is_stable, FALSE)")} AS num_unsure
  FROM judged
  GROUP BY {OF_FAILOVER}
),
joined AS (
  SELECT failovers.*, as_of_time, history_since_time, coalesce(num_groups, 0) AS num_groups,
    old.leader AS old_coordinator, new.leader AS new_coordinator,
    CASE WHEN stretch.cluster IS NOT NULL AND failover_time >= last_record_time
      THEN 1000 * {seconds_between("last_record_time", "failover_time")} END AS gap_ms,
    CASE WHEN num_worked_by > 0 THEN '{FailureCase.AFTER_SYNC}'
      WHEN num_generations_lost > 0 THEN '{FailureCase.AWAITING_SYNC}'
      WHEN num_joining > 0 THEN '{FailureCase.JOINING}'
      WHEN num_unsure = 0 THEN '{FailureCase.STABLE}' END AS failure_case
  FROM failovers
  LEFT JOIN clusters ON clusters.cluster = failovers.cluster
  LEFT JOIN of_groups ON {of_failover("of_groups", "failovers")}
  LEFT JOIN leaders AS old ON old.cluster = failovers.cluster AND old.offsets_partition = failovers.offsets_partition
    AND old.partition_leader_epoch = failovers.old_leader_epoch
  LEFT JOIN leaders AS new ON {of_failover("failovers", "new", "partition_leader_epoch")}
  LEFT JOIN history_coverage AS stretch ON stretch.cluster = failovers.cluster
    AND stretch.offsets_partition = failovers.offsets_partition AND before_offset >= stretch.first_offset
    AND failovers.first_offset <= stretch.last_offset
),
ranked AS (
  SELECT joined.*, CASE WHEN gap_ms IS NOT NULL THEN evidence_first_offset = before_offset + 1 END AS is_gap_exact,
    CASE failure_case WHEN '{FailureCase.AFTER_SYNC}' THEN '{Confidence.CERTAIN}'
      ELSE CASE WHEN failure_case IS NOT NULL THEN '{Confidence.LIKELY}' END END AS failure_case_confidence,
    CAST(row_number() OVER (PARTITION BY cluster ORDER BY num_generations_lost + num_commits_lost + num_markers_lost
      DESC, num_records_lost DESC, failover_time DESC NULLS LAST, offsets_partition, new_leader_epoch DESC) AS BIGINT)
      AS rank
  FROM joined
)
SELECT {column_list(COLUMNS)}
FROM ranked
ORDER BY cluster, rank
"""

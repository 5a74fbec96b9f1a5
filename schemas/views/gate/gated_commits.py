"""The views v_gate_coverage and v_ungated_commits: what groups committed beside the spans that were validated before.

A commit covers the offsets from the one that held before to its own. The first commit of a partition is left out: how
much was read before it is not known."""

from schemas.tables import GROUPS, TABLES, Column, Type
from schemas.views.parts import RANK, capped_total, column_list, total
from schemas.words.gate import SpanVerdict

# A commit, by the record that it begins with.
KEY = ("cluster", "group_id", "topic", "partition", "commit_offset")


def key_columns(table: str) -> str:
    return ", ".join(f"{table}.{name}" for name in KEY)


def on_key(left: str, right: str, names: tuple[str, ...] = KEY) -> str:
    return " AND ".join(f"{left}.{name} = {right}.{name}" for name in names)


# What a commit covers begins at the offset before, so it is no surer than that one.
# Where several results are about one span, the newest before the commit counts, the worst where they are of one time.
COMMITS = f"""\
gated AS (
  SELECT cluster, group_id, min(recorded_time) AS since_time FROM gate_spans GROUP BY cluster, group_id
),
commits AS (
  SELECT step.cluster, step.group_id, step.topic, step.partition, step.from_offset AS commit_offset,
    coalesce(step.commit_time, step.from_time) AS commit_time, step.previous_offset, step.committed_offset, step.via,
    step.delta AS num_messages, step.evidence_partition,
    step.evidence_first_offset, step.evidence_last_offset, coalesce(earlier.confidence, step.confidence) AS confidence
  FROM offset_history AS step JOIN gated ON gated.cluster = step.cluster AND gated.group_id = step.group_id
  LEFT JOIN offset_history AS earlier ON {on_key("earlier", "step", KEY[:-1])} AND earlier.to_offset = step.from_offset
    AND earlier.evidence_partition = step.evidence_partition AND earlier.confidence = 'possible'
  WHERE step.delta > 0 AND coalesce(step.commit_time, step.from_time) >= gated.since_time
),
judged AS (
  SELECT {key_columns("commits")}, commits.commit_time, span.verdict, span.until_time,
    CASE WHEN span.from_offset > commits.previous_offset THEN span.from_offset ELSE commits.previous_offset END
      AS first_offset,
    CASE WHEN span.to_offset < commits.committed_offset THEN span.to_offset ELSE commits.committed_offset END
      AS end_offset,
    row_number() OVER (PARTITION BY {key_columns("commits")}, span.from_offset, span.to_offset
      ORDER BY span.recorded_time DESC, span.verdict) AS age
  FROM commits
  JOIN gate_spans AS span ON {on_key("span", "commits", KEY[:-1])} AND span.recorded_time <= commits.commit_time
    AND span.from_offset < commits.committed_offset AND span.to_offset > commits.previous_offset
),
reached AS (
  SELECT judged.*, max(end_offset) OVER (PARTITION BY {", ".join(KEY)} ORDER BY first_offset, end_offset
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached_offset
  FROM judged
  WHERE age = 1 AND (verdict = '{SpanVerdict.PASSED}'
    OR (verdict = '{SpanVerdict.OVERRIDDEN}' AND until_time > commit_time))
),
sums AS (
  SELECT {", ".join(KEY)}, {
    total('''CASE WHEN reached_offset IS NULL OR reached_offset <= first_offset THEN end_offset - first_offset
      WHEN reached_offset < end_offset THEN end_offset - reached_offset ELSE 0 END''')
} AS num_gated_messages
  FROM reached
  GROUP BY {", ".join(KEY)}
),
covered AS (
  SELECT commits.*, coalesce(sums.num_gated_messages, 0) AS num_gated_messages,
    commits.num_messages - coalesce(sums.num_gated_messages, 0) AS num_ungated_messages
  FROM commits LEFT JOIN sums ON {on_key("sums", "commits")}
),
gated_topics AS (
  SELECT cluster, group_id, topic, min(recorded_time) AS first_span_time, max(recorded_time) AS last_span_time,
    count(*) AS num_spans
  FROM gate_spans
  GROUP BY cluster, group_id, topic
)"""

COVERAGE_COLUMNS = (
    TABLES["gate_spans"].column("cluster"),
    RANK,
    TABLES["gate_spans"].column("group_id"),
    TABLES["gate_spans"].column("topic"),
    Column(
        "first_span_time",
        Type.TIMESTAMP,
        "When the first span of the group's topic was recorded; earlier commits do not count.",
    ),
    Column("last_span_time", Type.TIMESTAMP, "When the newest span of the group's topic was recorded."),
    Column("num_spans", Type.BIGINT, "Spans recorded, including repeated and failed ones."),
    Column("num_commits", Type.BIGINT, "Commits that moved the committed offset forward."),
    Column("num_messages", Type.BIGINT, "Messages that these commits committed."),
    Column(
        "num_gated_messages",
        Type.BIGINT,
        "Of these, messages of spans that had passed, or were overridden, before the commit.",
    ),
    Column("share_gated", Type.DOUBLE, "num_gated_messages / num_messages, 0 to 1; NULL: nothing was committed."),
    Column(
        "num_ungated_messages",
        Type.BIGINT,
        "num_messages minus num_gated_messages: messages that were committed without a passed or overridden span.",
    ),
    Column("num_ungated_commits", Type.BIGINT, "Commits with one or more of these ungated messages."),
)
COVERAGE_READS = ("gate_spans", "offset_history")
COVERAGE_SQL = f"""\
WITH {COMMITS},
summed AS (
  SELECT spanned.cluster, spanned.group_id, spanned.topic, spanned.first_span_time, spanned.last_span_time,
    spanned.num_spans,
    count(covered.commit_offset) AS num_commits, coalesce({capped_total("covered.num_messages")}, 0) AS num_messages,
    coalesce({capped_total("covered.num_gated_messages")}, 0) AS num_gated_messages,
    coalesce({capped_total("covered.num_ungated_messages")}, 0) AS num_ungated_messages,
    coalesce({total("CASE WHEN covered.num_ungated_messages > 0 THEN 1 ELSE 0 END")}, 0) AS num_ungated_commits
  FROM gated_topics AS spanned LEFT JOIN covered ON covered.cluster = spanned.cluster
    AND covered.group_id = spanned.group_id AND covered.topic = spanned.topic
    AND covered.commit_time >= spanned.first_span_time
  GROUP BY spanned.cluster, spanned.group_id, spanned.topic, spanned.first_span_time, spanned.last_span_time,
    spanned.num_spans
),
shared AS (
  SELECT summed.*, CASE WHEN num_messages > 0 THEN CAST(num_gated_messages AS DOUBLE) / CAST(num_messages AS DOUBLE) END
    AS share_gated
  FROM summed
),
ranked AS (
  SELECT shared.*, CAST(row_number() OVER (PARTITION BY cluster ORDER BY share_gated NULLS LAST,
    num_ungated_messages DESC, group_id, topic) AS BIGINT) AS rank
  FROM shared
)
SELECT {column_list(COVERAGE_COLUMNS)}
FROM ranked
ORDER BY cluster, rank
"""

UNGATED_COLUMNS = (
    TABLES["gate_spans"].column("cluster"),
    RANK,
    *map(TABLES["gate_spans"].column, ("group_id", "topic", "partition")),
    Column(
        "commit_time",
        Type.TIMESTAMP,
        "The broker's clock at the commit; history time, if the record does not have the commit's time.",
    ),
    Column("previous_offset", Type.BIGINT, "The offset in effect before the commit."),
    TABLES["offset_history"].column("committed_offset"),
    Column("num_messages", Type.BIGINT, "Messages that the commit committed."),
    Column(
        "num_ungated_messages",
        Type.BIGINT,
        "Of these, messages in no span that had passed, or was overridden, before the commit.",
    ),
    Column(
        "is_topic_gated", Type.BOOLEAN, "FALSE: the group had spans of other topics only, at the time of the commit."
    ),
    Column(
        "gated_later_time",
        Type.TIMESTAMP,
        "When a span with some of these messages passed after the commit; NULL: never.",
    ),
    TABLES["offset_history"].column("via"),
    Column("member_id", Type.STRING, "Member that owned the partition at that time; NULL: none, or not known."),
    TABLES["ownership_intervals"].column("client_id"),
    TABLES["ownership_intervals"].column("client_host"),
    *GROUPS["EVIDENCE"],
)
UNGATED_READS = ("gate_spans", "offset_history", "ownership_intervals")
UNGATED_SQL = f"""\
WITH {COMMITS},
ungated AS (
  SELECT covered.*, coalesce(gated_topics.first_span_time <= covered.commit_time, FALSE) AS is_topic_gated
  FROM covered LEFT JOIN gated_topics ON {on_key("gated_topics", "covered", KEY[:3])}
  WHERE covered.num_ungated_messages > 0
),
gated_later AS (
  SELECT {key_columns("ungated")}, min(span.recorded_time) AS gated_later_time
  FROM ungated JOIN gate_spans AS span ON {on_key("span", "ungated", KEY[:-1])}
    AND span.verdict = '{SpanVerdict.PASSED}' AND span.recorded_time > ungated.commit_time
    AND span.from_offset < ungated.committed_offset AND span.to_offset > ungated.previous_offset
  GROUP BY {key_columns("ungated")}
),
owners AS (
  SELECT {key_columns("ungated")}, stay.member_id, stay.client_id, stay.client_host,
    row_number() OVER (PARTITION BY {key_columns("ungated")} ORDER BY stay.from_offset DESC, stay.member_id,
      stay.phase, stay.client_id NULLS LAST, stay.client_host NULLS LAST) AS age
  FROM ungated JOIN ownership_intervals AS stay ON {on_key("stay", "ungated", KEY[:-1])}
    AND stay.from_offset <= ungated.commit_offset AND coalesce(stay.to_offset > ungated.commit_offset, TRUE)
    AND coalesce(stay.role, 'active') = 'active'
),
ranked AS (
  SELECT ungated.*, gated_later.gated_later_time, owners.member_id, owners.client_id, owners.client_host,
    CAST(row_number() OVER (PARTITION BY ungated.cluster ORDER BY ungated.num_ungated_messages DESC,
      ungated.commit_time DESC, ungated.group_id, ungated.topic, ungated.partition, ungated.commit_offset) AS BIGINT)
      AS rank
  FROM ungated
  LEFT JOIN gated_later ON {on_key("gated_later", "ungated")}
  LEFT JOIN owners ON {on_key("owners", "ungated")} AND owners.age = 1
)
SELECT {column_list(UNGATED_COLUMNS)}
FROM ranked
ORDER BY cluster, rank
"""

-- Which share of the committed messages of each gated group and topic had been validated before the commit, the
-- smallest share first. Was every committed span validated?
-- reads: gate_spans offset_history
--   +gate_spans: cluster
--   +rank
--   +gate_spans: group_id topic
--   first_span_time timestamp  When the first span of the group's topic was recorded; earlier commits do not count.
--   last_span_time timestamp  When the newest span of the group's topic was recorded.
--   num_spans bigint  Spans recorded, including repeated and failed ones.
--   num_commits bigint  Commits that moved the committed offset forward.
--   num_messages bigint  Messages that these commits committed.
--   num_gated_messages bigint  Of these, messages of spans that had passed, or were overridden, before the commit.
--   share_gated double  num_gated_messages / num_messages, 0 to 1; NULL: nothing was committed.
--   num_ungated_messages bigint  num_messages minus num_gated_messages: messages that were committed without a passed
--       or overridden span.
--   num_ungated_commits bigint  Commits with one or more of these ungated messages.
WITH {gated_commits},
summed AS (
  SELECT spanned.cluster, spanned.group_id, spanned.topic, spanned.first_span_time, spanned.last_span_time,
    spanned.num_spans,
    count(covered.commit_offset) AS num_commits, coalesce({capped_total covered.num_messages}, 0) AS num_messages,
    coalesce({capped_total covered.num_gated_messages}, 0) AS num_gated_messages,
    coalesce({capped_total covered.num_ungated_messages}, 0) AS num_ungated_messages,
    coalesce({total CASE WHEN covered.num_ungated_messages > 0 THEN 1 ELSE 0 END}, 0) AS num_ungated_commits
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
{ranked shared, share_gated NULLS LAST, num_ungated_messages DESC, group_id, topic}

"""Findings about offsets and records of groups: who moved them, how often and how large they are, who is dead."""

import pytest

from tests.findings.cases import Answer, cases, check

# How offsets were moved, and by whom, in the words of a finding.
MOVED = {
    "to_earliest": "moved to the beginning of the log", "to_latest": "moved to its end", "deleted": "deleted",
    "shift": "all moved by the same number of messages", "to_offset": "moved to other offsets",
}  # fmt: skip
BY = {
    "admin_likely": ", probably by an admin tool", "member": " by a member",
    "simple_consumer": " by a program that commits for itself", "transaction": " in a transaction",
    "coordinator": " by the broker", "unknown": " by an unknown program",
}  # fmt: skip
WORDS = "".join(f"""
offsets were moved: {kind}
    reset kind={kind}
    > {"info" if kind == "deleted" else "warning"} offsets_reset
      message="offsets of 1 partition of t were {words} by a member: 1 message is read again, 0 skipped"
""" for kind, words in MOVED.items()) + "".join(f"""
offsets were moved by {actor}
    reset actor={actor}
    > warning offsets_reset
      message="offsets of 1 partition of t were all moved by the same number of messages{words}: 1 message is read
      again, 0 skipped"
""" for actor, words in BY.items())  # fmt: skip

CASES = cases(f"""
let reset
    offset_resets group_id=g topic=t kind=shift actor=member at_time=-1h num_partitions=1 messages_reread=1
      messages_skipped=0 evidence=2:5-6 confidence=possible
offsets of a group were moved
    reset num_partitions=2 messages_reread=2
    > warning offsets_reset group_id=g topic=t partition=- evidence=2:5-6 confidence=possible at_time=-1h num_rows=1
      message="offsets of 2 partitions of t were all moved by the same number of messages by a member: 2 messages are
      read again, 0 skipped"
{WORDS}
nobody moved offsets of a topic that was created again
    reset kind=truncation messages_reread=- messages_skipped=-
    > warning offsets_reset
      message="offsets of 1 partition of t were moved because the topic was truncated or created again: how many
      messages are read again or skipped is not known"
of moved offsets only what is skipped is known
    reset topic=- messages_reread=- messages_skipped=3
    > warning offsets_reset topic=-
      message="offsets of 1 partition of ? were all moved by the same number of messages by a member: an unknown number
      of messages are read again, 3 skipped"
of moved offsets only what is read again is known
    reset messages_skipped=-
    > warning offsets_reset
      message="offsets of 1 partition of t were all moved by the same number of messages by a member: 1 message is read
      again, an unknown number skipped"
the reset that moved most is named
    reset messages_reread=1 evidence=2:1-1
    reset messages_reread=0 messages_skipped=70 evidence=2:2-2
    reset messages_reread=60 messages_skipped=5 evidence=2:3-3
    reset messages_reread=- messages_skipped=- evidence=2:4-4
    > warning offsets_reset num_rows=4 evidence=2:2-2 at_time=-1h
offsets were moved before the time asked for, or after the as-of time
    with since=-1h
    reset
    reset at_time=+1s
offsets were moved at a time that nobody knows
    with since=now
    reset at_time=-
    > warning offsets_reset at_time=-

let expired
    reset kind=expired
offsets expired, and a message may be read again
    expired
    > warning offsets_expired group_id=g topic=t partition=- evidence=2:5-6 confidence=possible at_time=-1h
      message="the offset of 1 partition of t expired: 1 message may be read again, 0 skipped"
offsets expired, and messages may be skipped
    expired num_partitions=2 messages_reread=2 messages_skipped=1
    > warning offsets_expired
      message="the offsets of 2 partitions of t expired: 2 messages may be read again, 1 skipped"
offsets expired, and only skipping is possible
    expired topic=- messages_reread=0 messages_skipped=1
    > warning offsets_expired topic=-
      message="the offset of 1 partition of ? expired: 0 messages may be read again, 1 skipped"
offsets expired, and no message is affected
    expired messages_reread=0 messages_skipped=0
offsets expired, and nobody knows how many messages are read again
    expired messages_reread=- messages_skipped=0
    > info offsets_expired
      message="the offset of 1 partition of t expired: an unknown number of messages may be read again, 0 skipped"
offsets expired, and nobody knows how many messages are skipped
    expired messages_reread=0 messages_skipped=-
    > info offsets_expired
      message="the offset of 1 partition of t expired: 0 messages may be read again, an unknown number skipped"
the expiry that affects most messages is named
    expired messages_reread=2 messages_skipped=- evidence=2:1-1
    expired messages_reread=1 messages_skipped=6 evidence=2:2-2
    expired messages_reread=- messages_skipped=3 evidence=2:3-3
    > warning offsets_expired num_rows=3 evidence=2:2-2

let odd
    commit_findings group_id=g topic=t partition=1 kind=negative last_time=-1h num_commits=2 detail="committed -1"
      evidence=2:5-6 confidence=possible
commits look wrong
    odd
    > warning odd_commits group_id=g topic=t partition=1 evidence=2:5-6 confidence=possible at_time=-1h
      message="t-1, negative: 2 commits; committed -1"
one commit looks wrong
    odd topic=- num_commits=1
    > warning odd_commits topic=- message="?-1, negative: 1 commit; committed -1"
the odd commits of most messages, or else of most commits, are named
    odd num_commits=9 detail=nine
    odd num_commits=1 num_messages=50 detail=fifty
    odd num_commits=99 num_messages=3 detail=three
    > warning odd_commits num_rows=3 message="t-1, negative: 1 commit; fifty (the worst of 3 like it)"
odd commits were reported before
    with since=-1h
    odd

let commit
    offset_history group_id=g topic=t partition=1 previous_offset=5 committed_offset=7 delta=2 commit_time=-1h
      from_time=-1h from_offset=8 evidence=2:8-8 confidence=possible last_commit_time=-1h
let span
    gate_spans group_id=g topic=t partition=1 from_offset=0 to_offset=5 verdict=passed recorded_time=-1d
a commit of a gated topic is in no span that passed
    commit
    span
    > warning ungated_commits group_id=g topic=t partition=1 evidence=2:8-8 confidence=possible at_time=-1h
      message="t-1: the commit of offset 7 has 2 messages, and no passed validation covers 2 of them"
a commit of one message is in no span that passed
    commit committed_offset=6 delta=1
    span
    > warning ungated_commits
      message="t-1: the commit of offset 6 has 1 message, and no passed validation covers it"
a commit is in a span by half
    commit
    span to_offset=6
    > warning ungated_commits
      message="t-1: the commit of offset 7 has 2 messages, and no passed validation covers 1 of them"
a commit is in a span
    commit
    span to_offset=7
a commit of a topic that was never gated
    commit topic=u
    span
a commit of which some messages were validated too late, failed or were overridden for a time
    commit previous_offset=0 committed_offset=1000 delta=1000 partition=0..3 from_offset=8..11 from_time=-1h
    commit previous_offset=0 committed_offset=1000 delta=1000 topic=u from_offset=12
    span to_offset=1000 from_offset=900 partition=0
    span to_offset=1000 partition=1 verdict=overridden until_time=-2h
    span to_offset=1000 partition=2
    span to_offset=1000 partition=2 verdict=failed recorded_time=-2h
    span to_offset=1000 partition=3
    > warning ungated_commits num_rows=3 partition=-
      message="t-1: the commit of offset 1000 has 1000 messages, and no passed validation covers 1000 of them (the
      worst of 3 like it, in 3 partitions)"
    > info gate_overridden

let overridden
    gate_spans group_id=g topic=t partition=1 from_offset=5 to_offset=10 verdict=overridden recorded_time=-1d actor=ada
      override_reason="a gap" until_time=+1d
a span that failed was let through
    overridden
    > info gate_overridden group_id=g topic=t partition=1 evidence=- confidence=certain at_time=-1d
      message="t-1, offsets 5 to 9: accepted by ada, a gap, until 2026-11-22 03:00:00"
of a span that was let through nothing more is known
    overridden actor=- override_reason=- until_time=-
    > info gate_overridden message="t-1, offsets 5 to 9: accepted by ?, no reason"
a span that passed or failed was not let through
    overridden verdict=passed
    overridden verdict=failed
the largest span that was let through is named
    overridden from_offset=5 to_offset=10
    overridden from_offset=50 to_offset=100
    > info gate_overridden num_rows=2 partition=1
      message="t-1, offsets 50 to 99: accepted by ada, a gap, until 2026-11-22 03:00:00 (the worst of 2 like it)"
a span was let through before the time asked for
    with since=-1d
    overridden

let hour
    commit_volume group_id=g offsets_partition=2 hour_time=-1h num_commits=11 num_unchanged=0 num_at_5_s=11
      num_bytes=7
commits repeat the offset
    with needless_commits_per_day=10
    hour num_unchanged=10
    > info commits_too_often group_id=g topic=- partition=- evidence_partition=2 evidence_first_offset=-
      evidence_last_offset=- confidence=certain at_time=-
      message="11 commits in 24 hours, 10 of them with the same offset as before; one commit of each partition every
      5 s would be 11"
commits are not so many
    with needless_commits_per_day=11
    hour num_unchanged=10
of commits just nine in ten repeat the offset
    with needless_commits_per_day=10
    hour num_commits=20 num_unchanged=18 num_at_5_s=20
of commits more than nine in ten repeat the offset
    with needless_commits_per_day=10
    hour num_commits=20 num_unchanged=19 num_at_5_s=20
    > info commits_too_often
commits are twice as many as need be
    with needless_commits_per_day=10
    hour num_at_5_s=6 num_commits=12
commits are more than twice as many as need be
    with needless_commits_per_day=10
    hour num_at_5_s=6 num_commits=13
    > info commits_too_often
commits of a day are added up, from its first hour to the as-of time
    with needless_commits_per_day=10
    hour num_commits=6 num_at_5_s=1 num_unchanged=1 hour_time=-24h
    hour num_commits=5 num_at_5_s=2 num_unchanged=3 hour_time=now
    hour num_commits=100 hour_time=-25h
    hour num_commits=1000 hour_time=+1h
    > info commits_too_often num_rows=1
      message="11 commits in 24 hours, 4 of them with the same offset as before; one commit of each partition every
      5 s would be 3"
commits of groups and of offsets partitions are not added up
    with needless_commits_per_day=10
    hour num_commits=6 num_at_5_s=1
    hour num_commits=6 num_at_5_s=1 group_id=h
    hour num_commits=6 num_at_5_s=1 offsets_partition=3
the most bytes of commits are named
    with needless_commits_per_day=10
    hour num_at_5_s=1 num_bytes=7 offsets_partition=1
    hour num_at_5_s=1 num_bytes=80 offsets_partition=2
    > info commits_too_often num_rows=2 evidence_partition=2

let empty
    group_state_intervals group_id=g state=Empty from_time=-31d evidence=2:5-6 num_members=0 from_offset=5
let left
    offset_history group_id=g topic=t partition=1 evidence=2:1-1 from_time=-40d last_commit_time=-30d-1s
      commit_time=-40d
a group is dead
    empty
    left
    > info dead_group group_id=g topic=- partition=- evidence=2:5-6 confidence=certain at_time=-
      message="no members since 2026-10-21 03:00:00, its only offset is of 2026-10-22 02:59:59"
a group is dead with two offsets
    empty
    left
    left topic=u last_commit_time=-50d
    > info dead_group
      message="no members since 2026-10-21 03:00:00, the newest of its 2 offsets is of 2026-10-22 02:59:59"
a group committed just so long ago
    empty
    left last_commit_time=-30d
a group is without members for just so long
    empty from_time=-30d
    left
a group is without members for a moment longer
    empty from_time=-30d-1s
    left
    > info dead_group
a group is dead after more days by the setting
    with dead_group_days=32
    empty
    left last_commit_time=-40d
a group is dead after fewer days by the setting
    with dead_group_days=1
    empty from_time=-2d
    left last_commit_time=-2d
    > info dead_group
the newest commit of a group counts
    empty
    left
    left topic=u last_commit_time=-1d
a group with members is not dead
    empty state=Stable num_members=1
    left
a group without offsets is not dead
    empty
    left group_id=h
a group whose offsets are in another offsets partition is not dead
    empty
    left evidence=3:1-1
a group is what it is in the offsets partition that it wrote to last
    empty
    empty state=Stable evidence=3:5-6 from_time=-30d
    left
    left evidence=3:1-1
a group is dead as of an earlier time, though it came back
    with as_of=-40d
    empty from_time=-80d to_time=-39d to_offset=9 is_to_exact=yes
    left from_time=-80d last_commit_time=-80d to_time=-39d to_offset=9 is_to_exact=yes
    > info dead_group confidence=certain
a group was dead until the as-of time
    with as_of=-40d
    empty from_time=-80d to_time=-40d to_offset=9
    left from_time=-80d last_commit_time=-80d
the offset of a group was there until the as-of time
    with as_of=-40d
    empty from_time=-80d
    left from_time=-80d last_commit_time=-80d to_time=-40d to_offset=9
a group was dead only later
    with as_of=-40d
    empty from_time=-39d
    left from_time=-80d last_commit_time=-80d
the offset of a group came only later
    with as_of=-40d
    empty from_time=-80d
    left from_time=-39d last_commit_time=-80d
equal commits went on after the as-of time, and nobody knows which were before it
    with as_of=-40d
    empty from_time=-80d
    left from_time=-80d last_commit_time=-39d
the state of a dead group may have ended earlier
    with as_of=-40d
    empty from_time=-80d to_time=-39d to_offset=9
    left from_time=-80d last_commit_time=-80d
    > info dead_group confidence=likely
the offset of a dead group may have ended earlier
    with as_of=-40d
    empty from_time=-80d
    left from_time=-80d last_commit_time=-80d to_time=-39d to_offset=9
    > info dead_group confidence=likely
a dead group is no surer than its state
    empty confidence=likely
    left
    > info dead_group confidence=likely
a dead group is no surer than commits that may have been aborted
    empty
    left confidence=possible
    > info dead_group confidence=possible
of dead groups the one with most offsets comes first
    empty
    left
    empty group_id=h
    left group_id=h partition=1..3
    > info dead_group group_id=h
    > info dead_group group_id=g

let segment
    source_files kind=segments size_bytes=536870912 offsets_partition=3 source_file=a first_offset=5 last_offset=9
      run_id=00000001-a
segments of an offsets partition are too large together
    segment
    segment source_file=b first_offset=10 last_offset=20
    segment source_file=c first_offset=21 last_offset=30 size_bytes=1
    > warning offsets_topic_unhealthy group_id=- topic=- partition=- evidence=3:5-30 confidence=likely at_time=-
      message="offsets partition 3: 1073741825 bytes in 3 segments: has its cleaner stopped?"
segments of an offsets partition are as large as they may be
    segment source_file=a
    segment source_file=b
one segment is too large by the setting
    with offsets_partition_limit_bytes=9
    segment size_bytes=10
    > warning offsets_topic_unhealthy
      message="offsets partition 3: 10 bytes in 1 segment: has its cleaner stopped?"
only the newest ingest of an offsets partition counts
    with offsets_partition_limit_bytes=9
    segment size_bytes=10
    segment size_bytes=9 run_id=00000002-a
    segment size_bytes=8 offsets_partition=4
segments of runs and of offsets partitions are not added up
    segment size_bytes=1073741820
    segment size_bytes=1073741820 offsets_partition=4
    segment size_bytes=1073741820 run_id=00000002-a
files that are no segments do not count
    with offsets_partition_limit_bytes=9
    segment size_bytes=10 kind=json
the largest offsets partition is named
    with offsets_partition_limit_bytes=9
    segment size_bytes=10 offsets_partition=1
    segment size_bytes=30 offsets_partition=2
    > warning offsets_topic_unhealthy num_rows=2 evidence=2:5-9

let stable
    group_state_intervals group_id=g state=Stable num_members=1
let record
    classic_group_metadata group_id=g record_bytes=701 record_time=-1h offsets_partition=2 record_offset=5
a batch of records of a group is nearly too large
    with record_limit_bytes=1000
    stable
    record
    > warning record_headroom group_id=g topic=- partition=- evidence=2:5-5 confidence=certain at_time=-
      message="its largest batch in classic_group_metadata, of 2026-11-21 02:00:00, has 701 bytes; brokers accept up to
      1000"
a batch of records fills seven tenths of the limit
    with record_limit_bytes=1000
    stable
    record record_bytes=700
the time of a large batch may be unknown
    with record_limit_bytes=1000
    stable
    record record_time=-
    > warning record_headroom
      message="its largest batch in classic_group_metadata, has 701 bytes; brokers accept up to 1000"
a deleted group is not too large
    with record_limit_bytes=1000
    stable to_offset=9
    record
records of one batch are added up, and the limit of a snapshot that lacks it is the setting
    with record_limit_bytes=1000
    stable
    target_assignment_members group_id=g record_bytes=400 record_offset=2..3 batch_first_offset=2
    cluster_snapshots captured_time=now settings=offsets.retention.minutes:1
    > warning record_headroom evidence=0:2-3
      message="its largest batch in target_assignment_members, has 800 bytes; brokers accept up to 1000"
the limit of a snapshot wins
    with record_limit_bytes=1000
    stable
    target_assignment_members group_id=g record_bytes=400 record_offset=2..3 batch_first_offset=2
    cluster_snapshots captured_time=now settings=message.max.bytes:1142
    > warning record_headroom
      message="its largest batch in target_assignment_members, has 800 bytes; brokers accept up to 1142"
a batch is small by the limit of a snapshot
    with record_limit_bytes=1000
    stable
    target_assignment_members group_id=g record_bytes=400 record_offset=2..3 batch_first_offset=2
    cluster_snapshots captured_time=now settings=message.max.bytes:1143
the largest batch of two tables of a group is named
    with record_limit_bytes=1000
    stable
    record record_bytes=701
    target_assignment_members group_id=g record_bytes=900 record_offset=7 batch_first_offset=7
    > warning record_headroom num_rows=2 evidence=0:7-7
""")


@pytest.mark.parametrize("name", CASES)
def test_of_these_rows_these_are_the_findings(name: str, answer: Answer) -> None:
    check(CASES[name], answer)

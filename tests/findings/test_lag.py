"""Findings about how groups get on: verdicts, freshness, transactions, messages lost, offsets that expire."""

import pytest

from tests.findings.cases import Answer, cases, check

# The same for each verdict that is a finding.
OF_VERDICTS = "".join(f"""
a partition with the verdict {word}
    verdict own_verdict={word}
    > {severity} {kind} group_id=g topic=t partition=1 evidence=2:5-6 confidence=possible at_time=- num_rows=1
      message="t-1: silent for 9 s"
a partition with the verdict {word} of a topic without a name
    verdict own_verdict={word} topic=-
    > {severity} {kind} topic=- partition=1 message="?-1: silent for 9 s"
a group that is {word} as a whole is no finding beside its partitions
    verdict own_verdict={word} partition=-
the {word} of an earlier time is over, that of a later one is not yet
    verdict own_verdict={word} as_of_time=-1d
    verdict own_verdict=OK as_of_time=now
    verdict own_verdict={word} as_of_time=+1s group_id=h
the newest verdicts before the as-of time count if there are none of it: {word}
    verdict own_verdict={word} as_of_time=-2d group_id=before
    verdict own_verdict={word} as_of_time=-1d
    verdict own_verdict=OK as_of_time=+1d
    > {severity} {kind} group_id=g at_time=-
the {word} with the largest lag is named
    verdict own_verdict={word} partition=1 lag_floor=5
    verdict own_verdict={word} partition=2 lag_floor=70
    verdict own_verdict={word} partition=0
    > {severity} {kind} num_rows=3 partition=-
      message="t-2: silent for 9 s (the worst of 3 like it, in 3 partitions)"
a partition that is {word} still is, whatever time is asked for
    with since=now until=-9d
    verdict own_verdict={word}
    > {severity} {kind}
""" for word, severity, kind in (
    ("STOP", "critical", "partition_stopped"), ("STALL", "critical", "partition_stalled"),
    ("REWIND", "critical", "offset_rewound"), ("WARN", "warning", "falling_behind"),
))  # fmt: skip

CASES = cases(f"""
let verdict
    group_verdicts group_id=g topic=t partition=1 as_of_time=now reason="silent for 9 s" evidence=2:5-6
      confidence=possible
{OF_VERDICTS}
partitions that are fine or unknown are no finding
    verdict own_verdict=OK
    verdict own_verdict=UNKNOWN partition=2

let late
    group_verdicts group_id=g own_verdict=OK partition=- freshness_objective_ms=5000
    lag_days group_id=g topic=t day_time=now num_points=1 num_minutes=1 num_minutes_known=1 time_lag_ms_max=5001
      confidence=certain
    lag_minutes group_id=g topic=t day_time=now minute_time=-3m num_points=1 time_lag_ms_max=5001
      confidence=certain
a day on which a group was not fresh enough is an event of its last late minute
    late
    > warning freshness_missed group_id=g topic=t partition=- evidence=- confidence=likely at_time=-3m
      message="t: its oldest unread message was older than 5 s in 1 of 1 known minute of 2026-11-21, up to 6 s; 5 in
      100 minutes are allowed"
a day on which a group was just fresh enough
    late time_lag_ms_max=5000
the longest time lag is rounded up to seconds
    late time_lag_ms_max=6000
    > warning freshness_missed
      message="t: its oldest unread message was older than 5 s in 1 of 1 known minute of 2026-11-21, up to 6 s; 5 in
      100 minutes are allowed"
minutes of a topic without a name are counted
    late topic=-
    lag_minutes group_id=g day_time=now minute_time=-5m num_points=1 time_lag_ms_max=9000
    no lag_days
    lag_days group_id=g day_time=now num_points=1 num_minutes=2 num_minutes_known=2 time_lag_ms_max=9000
    > warning freshness_missed topic=- at_time=-3m
      message="?: its oldest unread message was older than 5 s in 2 of 2 known minutes of 2026-11-21, up to 9 s; 5 in
      100 minutes are allowed"
a day that may be late is possible
    late confidence=possible
    > warning freshness_missed confidence=possible
a day that was late before the time asked for
    with since=-3m
    late

let hanging
    transactions outcome=open first_time=-61m first_offset=5 producer_id=7 num_commits=1 evidence=2:5-8
      producer_epoch=3 confidence=likely
let waits
    offset_commits group_id=g is_transactional=yes producer_id=7 record_offset=5 offsets_partition=2 record_time=-61m
a transaction is open for too long
    hanging
    waits
    > critical hanging_transaction group_id=g topic=- partition=- evidence=2:5-8 confidence=likely at_time=-
      message="producer 7, epoch 3, has had a transaction open since 2026-11-21 01:59:00"
the epoch of a producer may be unknown
    hanging producer_epoch=-
    waits
    > critical hanging_transaction message="producer 7, has had a transaction open since 2026-11-21 01:59:00"
a transaction is open for exactly as long as it may be
    hanging first_time=-60m
    waits
a transaction may be open for longer by the setting
    with hanging_transaction_ms=3661000
    hanging
    waits
a transaction is open for too long by the setting
    with hanging_transaction_ms=59000
    hanging first_time=-1m
    waits
    > critical hanging_transaction
a transaction that ended is none, one that ends later is
    hanging outcome=committed end_time=now producer_id=7
    waits
    hanging outcome=aborted end_time=+1s producer_id=8
    waits producer_id=8 group_id=h
    > critical hanging_transaction group_id=h
each group that waits has a finding of its own
    hanging
    waits group_id=done record_offset=4
    waits group_id=waits
    waits group_id=other record_offset=9
    > critical hanging_transaction group_id=other num_rows=1
    > critical hanging_transaction group_id=waits num_rows=1
commits by another producer, in another offsets partition or without a transaction do not wait
    hanging
    waits producer_id=8
    waits offsets_partition=3
    waits is_transactional=no
a commit of the as-of time waits, so does one whose time is unknown, and a later one does not
    hanging
    waits record_time=now
    waits record_time=- group_id=h
    waits record_time=+1s group_id=later
    > critical hanging_transaction group_id=g
    > critical hanging_transaction group_id=h
what a producer commits after the end of its transaction is of the next one
    hanging outcome=committed end_time=+1s
    waits record_offset=8
    waits record_offset=9 group_id=next
    > critical hanging_transaction group_id=g
each group waits for its own transaction of a producer
    hanging outcome=committed end_time=+1s
    waits record_offset=5
    hanging first_offset=9 evidence=2:9-12 first_time=-62m
    waits record_offset=9 group_id=h
    > critical hanging_transaction group_id=g num_rows=1 evidence=2:5-8
    > critical hanging_transaction group_id=h num_rows=1 evidence=2:9-12
a group that waits for two transactions names the one with more commits
    hanging num_commits=1
    hanging num_commits=9 producer_id=8 evidence=2:6-6
    waits
    waits producer_id=8
    waits producer_id=8 record_offset=6
    > critical hanging_transaction num_rows=2 evidence=2:6-6

let unread
    rebalances group_id=g longest_unread_high_ms=60001 start_time=-2m end_time=-1m trigger=member_left evidence=2:5-6
      confidence=likely trigger_detail="m left"
a rebalance may have left a partition unread for too long
    unread
    > warning long_unread group_id=g topic=- partition=- evidence=2:5-6 confidence=likely at_time=-1m
      message="a partition may have been unread for up to 60.1 s: m left"
a rebalance of unknown details is of its start if it has no end
    unread trigger_detail=- end_time=-
    > warning long_unread at_time=-2m message="a partition may have been unread for up to 60.1 s: member_left"
a rebalance left a partition unread for as long as it may
    unread longest_unread_high_ms=60000
a rebalance left no partition unread
    unread longest_unread_high_ms=-
a rebalance left a partition unread for less than a second
    with max_unread_ms=998
    unread longest_unread_high_ms=999
    > warning long_unread message="a partition may have been unread for up to 999 ms: m left"
times without a message are rounded up to tenths of a second
    with max_unread_ms=998
    unread group_id=1 longest_unread_high_ms=1000
    unread group_id=2 longest_unread_high_ms=8345
    unread group_id=3 longest_unread_high_ms=10900
    unread group_id=4 longest_unread_high_ms=11514
    unread group_id=5 longest_unread_high_ms=1999901
    > warning long_unread message="a partition may have been unread for up to 2000.0 s: m left"
    > warning long_unread message="a partition may have been unread for up to 11.6 s: m left"
    > warning long_unread message="a partition may have been unread for up to 10.9 s: m left"
    > warning long_unread message="a partition may have been unread for up to 8.4 s: m left"
    > warning long_unread message="a partition may have been unread for up to 1.0 s: m left"
a rebalance ended before the time asked for
    with since=-1m
    unread

let storm
    rebalances group_id=g from_generation=0..30 to_generation=1..31 assignment_offset=0..30 start_time=-1h+1m*i
      end_time=-1h+1m*i+5s evidence=2:0-39 unread_partition_high_ms=7
a group rebalances more than thirty times in an hour
    storm
    > warning rebalance_storm group_id=g topic=- partition=- evidence=2:0-39 confidence=certain at_time=-30m+5s
      message="31 rebalances from 2026-11-21 02:00:00 to 2026-11-21 02:30:05" num_rows=1
a group rebalances thirty times in an hour
    storm from_generation=0..29 to_generation=1..30 assignment_offset=0..29
a group rebalances more than thirty times in two hours
    storm start_time=-2h+3m*i end_time=-2h+3m*i+5s
a group may rebalance more often by the setting
    with storm_rebalances_per_hour=31
    storm
a client whose members join again and again is named
    storm
    generation_members group_id=g assignment_offset=0..20 change=joined member_id=m
    membership_intervals group_id=g member_id=m client_id=c client_host=/h
    > warning rebalance_storm
      message="31 rebalances from 2026-11-21 02:00:00 to 2026-11-21 02:30:05, 21 of them by client c at /h"
the host of that client may be unknown
    storm
    generation_members group_id=g assignment_offset=0..20 change=joined member_id=m
    membership_intervals group_id=g member_id=m client_id=c
    > warning rebalance_storm
      message="31 rebalances from 2026-11-21 02:00:00 to 2026-11-21 02:30:05, 21 of them by client c at ?"
a storm was over before the time asked for
    with since=-30m+5s
    storm
the storm that left partitions unread for longest is named
    storm start_time=-9h+1m*i end_time=-9h+1m*i+5s
    storm start_time=-5h+1m*i end_time=-5h+1m*i+5s unread_partition_high_ms=- assignment_offset=40..70
    storm unread_partition_high_ms=70 assignment_offset=80..110
    > warning rebalance_storm num_rows=3
      message="31 rebalances from 2026-11-21 02:00:00 to 2026-11-21 02:30:05 (the worst of 3 like it)"

let risk
    expiry_forecast group_id=g topic=t partition=1 expires_time=+24h messages_at_risk=2 rule=group_empty
      evidence=2:5-6 confidence=possible
offsets expire soon, and messages are at risk
    risk
    > warning offsets_expiring group_id=g topic=t partition=1 evidence=2:5-6 confidence=possible at_time=-
      message="t-1: expires at 2026-11-22 03:00:00 (group_empty), 2 messages at risk"
offsets expire soon, and one message is at risk
    risk messages_at_risk=1
    > warning offsets_expiring message="t-1: expires at 2026-11-22 03:00:00 (group_empty), 1 message at risk"
offsets expire soon, and nobody knows what is at risk
    risk messages_at_risk=-
    > info offsets_expiring
      message="t-1: expires at 2026-11-22 03:00:00 (group_empty), an unknown number of messages at risk"
offsets expire soon, and no message is at risk
    risk messages_at_risk=0
offsets expire after just so long
    risk expires_time=+25h
offsets expire a moment before that
    risk expires_time=+25h-1ms
    > warning offsets_expiring
offsets expire soon by the setting
    with expiring_soon_hours=30
    risk expires_time=+29h
    > warning offsets_expiring
offsets that have expired by the forecast are at risk
    risk expires_time=-9d
    > warning offsets_expiring
a transaction keeps offsets from expiring
    risk blocked_by_transaction=yes
what is known to be at risk and what is not are two findings
    risk partition=1 messages_at_risk=2
    risk partition=2 messages_at_risk=30
    risk partition=3 messages_at_risk=-
    > warning offsets_expiring num_rows=2 message="t-2: expires at 2026-11-22 03:00:00 (group_empty), 30 messages
      at risk (the worst of 2 like it, in 2 partitions)"
    > info offsets_expiring num_rows=1 partition=3

let lost
    lag_points group_id=g topic=t partition=1 snapshot_time=-3h committed_offset=100 log_start_offset=500
      lost_messages=400 lag_raw=1 evidence=2:5-6 confidence=possible
let held
    offset_history group_id=g topic=t partition=1 committed_offset=100 from_time=-4h from_offset=1 evidence=2:1-1
      last_commit_time=-4h commit_time=-4h
let none
    lag_points group_id=g topic=t partition=1 snapshot_time=-1h committed_offset=560 log_start_offset=500
      lost_messages=0 lag_raw=1 evidence=2:5-6
messages were lost, which is an event of the snapshot
    lost
    > critical messages_lost group_id=g topic=t partition=1 evidence=2:5-6 confidence=possible at_time=-3h num_rows=1
      message="t-1: 400 messages were deleted before the group read them"
one message was lost
    lost lost_messages=1
    > critical messages_lost message="t-1: 1 message was deleted before the group read it"
no message was lost
    none
a snapshot after the as-of time shows a loss
    lost snapshot_time=+1s
a snapshot of the as-of time shows a loss
    lost snapshot_time=now
    > critical messages_lost at_time=now
a loss that was reported before is not reported again
    with since=-3h
    lost
a loss that was reported before does not hide a smaller one since then
    with since=-3h
    lost
    lost lost_messages=5 snapshot_time=-2h
    > critical messages_lost at_time=-2h num_rows=1 message="t-1: 5 messages were deleted before the group read them"
a loss since then is reported
    with since=-3h-1s
    lost
    > critical messages_lost at_time=-3h
a loss at the end of the time asked for is reported, a later one is not
    with until=-3h
    lost
    lost partition=2 snapshot_time=-2h
    > critical messages_lost partition=1
the largest loss of a partition counts once, after the group has moved on
    lost committed_offset=100 lost_messages=400 snapshot_time=-3h
    lost committed_offset=90 lost_messages=410 snapshot_time=-2h
    lost committed_offset=90 lost_messages=5 snapshot_time=-90m
    none
    held committed_offset=100 to_offset=9 to_time=-2h
    held committed_offset=90 from_time=-2h to_offset=9 to_time=-1h
    held committed_offset=590 from_time=-1h is_open=yes
    > critical messages_lost num_rows=1 at_time=-2h
      message="t-1: 410 messages were deleted before the group read them"
of equal losses the newest is named
    lost snapshot_time=-3h evidence=2:3-3
    lost snapshot_time=-2h evidence=2:4-4
    > critical messages_lost num_rows=1 at_time=-2h evidence=2:4-4
a loss lasts while the group's offset is still below the start of the log
    with since=now
    lost
    held
    > critical messages_lost at_time=- evidence=2:5-6
a loss lasts although a later snapshot does not know where the log begins
    with since=now
    lost
    lost snapshot_time=-1h log_start_offset=- lost_messages=-
    held
    > critical messages_lost at_time=-
a later snapshot of another partition, topic or group does not end a loss
    with since=now
    lost
    none partition=2
    none topic=u
    none group_id=h
    held
    > critical messages_lost at_time=-
a later snapshot without a loss ends it
    with since=now
    lost
    none
    held
a snapshot after the as-of time does not end a loss
    with since=now
    lost
    none snapshot_time=+1s
    held
    > critical messages_lost at_time=-
a loss is over when the group commits the start of the log
    with since=now
    lost
    held to_offset=9 to_time=-2h
    held committed_offset=500 from_time=-2h
a loss lasts when the group commits an offset just below that
    with since=now
    lost
    held to_offset=9 to_time=-2h
    held committed_offset=499 from_time=-2h
    > critical messages_lost at_time=-
a loss is over when the group is deleted
    with since=now
    lost
    held to_offset=9 to_time=-2h
a group deleted at the as-of time has no loss, one deleted later has
    with since=now
    lost
    held to_offset=9 to_time=now
    lost group_id=h
    held group_id=h to_offset=9 to_time=+1s
    > critical messages_lost group_id=h at_time=-
what a group commits after the as-of time does not count
    with since=now
    lost
    held committed_offset=100 to_offset=9 to_time=+1h
    held committed_offset=500 from_time=+1h
    > critical messages_lost at_time=-
an offset whose time is unknown, or that of the as-of time, counts
    with since=now
    lost
    held from_time=-
    lost group_id=h
    held group_id=h from_time=now
    lost group_id=later
    held group_id=later from_time=+1s
    > critical messages_lost group_id=g
    > critical messages_lost group_id=h
the offset of another partition, topic or group is not that of the loss
    with since=now
    lost
    held partition=2
    held topic=u
    held group_id=h
a loss that lasts and one that is over are two rows of a topic
    lost partition=1 lost_messages=400
    lost partition=2 lost_messages=500
    held partition=1
    > critical messages_lost num_rows=2 at_time=-3h partition=-
      message="t-2: 500 messages were deleted before the group read them (the worst of 2 like it, in 2 partitions)"
""")


@pytest.mark.parametrize("name", CASES)
def test_of_these_rows_these_are_the_findings(name: str, answer: Answer) -> None:
    check(CASES[name], answer)

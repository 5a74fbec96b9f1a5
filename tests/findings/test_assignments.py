"""Findings about assignments: drift, known defects, partitions without an owner, broken rules, stuck upgrades."""

import pytest

from tests.findings.cases import Answer, cases, check

# Broken rules, and how a finding says it.
RULES = {
    "co_partitioned no a-1 and b-1 have different owners":
        "copartitioned: a member must have the same partitions of these topics, but a-1 and b-1 have different owners",
    "redundant no a-0: 2 members must own each, 1 does": "redundancy: a-0: 2 members must own each, 1 does",
    "rack_local no no replica in the rack of m: a-0":
        "is_rack_local: a member with a rack must have only partitions with a replica there, but there is no replica "
        "in the rack of m: a-0",
}  # fmt: skip
BROKEN = "".join(f"""
a rule is broken: {check.partition(" ")[0]}
    ruled checks="valid yes; {check}"
    stable
    > warning group_rule_broken group_id=g topic=- partition=- evidence=2:5-6 at_time=- num_rows=1
      confidence={"likely" if "rack" in check else "certain"}
      message="{words}, since the assignment of 2026-11-21 03:00:00"
""" for check, words in RULES.items())  # fmt: skip

CASES = cases(f"""
let audit
    assignment_audit group_id=g verdict=same record_time=-1h assignor=range evidence=2:5-6 confidence=possible
      assignment_offset=5
an assignment is not that of the assignor
    audit verdict=drift num_different=2 num_partitions=3
    > warning assignment_drift group_id=g topic=- partition=- evidence=2:5-6 confidence=possible at_time=-1h
      message="2 of 3 partitions have another owner than Kafka's range computes"
one partition has another owner than the assignor computes
    audit verdict=drift num_different=1 num_partitions=1
    > warning assignment_drift message="1 of 1 partition has another owner than Kafka's range computes"
one partition of several has another owner
    audit verdict=drift num_different=1 num_partitions=- assignor=-
    > warning assignment_drift message="1 of ? partitions has another owner than Kafka's assignor computes"
an assignment that is the same, or cannot be computed, is no drift
    audit verdict=same num_different=2
    audit verdict=not_recomputable assignment_offset=6
the drift of most partitions is named
    audit verdict=drift num_different=9 num_partitions=9 evidence=2:1-1
    audit verdict=drift num_different=20 num_partitions=20 evidence=2:2-2
    > warning assignment_drift num_rows=2 evidence=2:2-2
a drift was reported before
    with since=-1h
    audit verdict=drift num_different=2 num_partitions=3

an assignment has a known defect
    audit known_defect=KAFKA-1 reason="m has too much"
    > warning assignment_defect group_id=g topic=- partition=- evidence=2:5-6 confidence=possible at_time=-1h
      message="KAFKA-1 (range): m has too much"
of a known defect only its number is known
    audit known_defect=KAFKA-1 assignor=-
    > warning assignment_defect message="KAFKA-1"
the defect of most partitions is named
    audit known_defect=KAFKA-1 num_different=-
    audit known_defect=KAFKA-2 num_different=1
    > warning assignment_defect num_rows=2 message="KAFKA-2 (range) (the worst of 2 like it)"
a defect was reported before
    with since=-1h
    audit known_defect=KAFKA-1

let stable
    group_state_intervals group_id=g state=Stable num_members=2 evidence=2:9-9 from_time=-80d
let unowned
    assignment_audit group_id=g verdict=same record_time=-1h num_unowned=2 num_partitions=4 evidence=2:5-6
      assignment_offset=5
an assignment leaves partitions without an owner
    unowned
    stable
    > warning partitions_unowned group_id=g topic=- partition=- evidence=2:5-6 confidence=certain at_time=-
      message="2 of 4 partitions of its topics have had no owner since 2026-11-21 02:00:00"
an assignment leaves one partition without an owner
    unowned num_unowned=1 num_partitions=1
    stable
    > warning partitions_unowned
      message="1 of 1 partition of its topics has had no owner since 2026-11-21 02:00:00"
an assignment of an unknown time leaves one partition of an unknown number without an owner
    unowned num_unowned=1 num_partitions=- record_time=-
    stable
    > warning partitions_unowned message="1 of ? partitions of its topics has had no owner since ?"
an assignment leaves no partition without an owner
    unowned num_unowned=0
    stable
nobody knows whether an assignment leaves partitions without an owner
    unowned num_unowned=-
    stable
a group without members owns nothing
    unowned
    stable num_members=0
a group with an unknown number of members may own nothing
    unowned
    stable num_members=-
a group that rebalances gets its next assignment soon
    unowned
    stable state=Reconciling
a group whose state is not known may have no members
    unowned
a group whose state has ended has no members
    unowned
    stable to_offset=9 to_time=now
the newest assignment of a group counts
    unowned
    unowned num_unowned=0 assignment_offset=6
    stable
an assignment of the as-of time counts, a later one does not
    unowned record_time=now
    unowned record_time=+1s num_unowned=1 assignment_offset=6
    stable
    > warning partitions_unowned evidence=2:5-6 message="2 of 4 partitions of its topics have had no owner since
      2026-11-21 03:00:00"
only a later assignment leaves partitions without an owner
    unowned record_time=+1s
    stable
partitions had no owner as of an earlier time
    with as_of=-40d
    unowned record_time=-80d
    unowned record_time=-39d num_unowned=0 assignment_offset=9
    stable to_time=-39d to_offset=9 is_to_exact=yes
    > warning partitions_unowned confidence=certain
the state of the group may have ended before the as-of time
    with as_of=-40d
    unowned record_time=-80d
    stable to_time=-39d to_offset=9
    > warning partitions_unowned confidence=likely
what is not certain stays so
    with as_of=-40d
    unowned record_time=-80d confidence=possible
    stable to_time=-39d to_offset=9
    > warning partitions_unowned confidence=possible
a group was stable only after the as-of time
    with as_of=-40d
    unowned record_time=-80d
    stable from_time=-39d
the group with most partitions without an owner comes first
    unowned group_id=g num_unowned=2
    stable group_id=g
    unowned group_id=h num_unowned=30
    stable group_id=h
    > warning partitions_unowned group_id=h
    > warning partitions_unowned group_id=g

let owner
    ownership_intervals group_id=g topic=t group_type=classic evidence=2:5-5 from_time=-80d
let captured
    topic_snapshots topic=t
let grown
    assignment_audit group_id=g verdict=same record_time=-1d num_unowned=0 num_partitions=2 evidence=2:5-6
      assignment_offset=5
    generation_members group_id=g change=kept subscribed_topics=[t] assigned=[] assignment_offset=5 evidence=2:5-6
    group_state_intervals group_id=g state=Stable num_members=2 evidence=2:9-9 from_time=-80d
    ownership_intervals group_id=g topic=t partition=0..1 group_type=classic evidence=2:5-5 from_time=-80d
    topic_snapshots topic=t captured_time=-2000m partition=0..1
    topic_snapshots topic=t captured_time=-6m partition=0..3
    topic_snapshots topic=t captured_time=-1m partition=0..3
    topics topic=t
    history_coverage offsets_partition=2 to_time=now
a topic got partitions after the assignment
    grown
    > warning partitions_unowned group_id=g evidence=2:5-6 confidence=certain at_time=-
      message="2 of 4 partitions of its topics have had no owner since 2026-11-21 02:54:00"
a topic got partitions, and the assignment leaves as many without an owner
    grown
    no assignment_audit
    unowned record_time=-1d
    > warning partitions_unowned
      message="2 of 4 partitions of its topics have had no owner since 2026-11-20 03:00:00"
a topic got fewer partitions than the assignment leaves without an owner
    grown
    no assignment_audit
    unowned record_time=-1d num_unowned=3 num_partitions=9
    > warning partitions_unowned
      message="3 of 9 partitions of its topics have had no owner since 2026-11-20 03:00:00"
a topic got more partitions than the assignment leaves without an owner
    grown
    no assignment_audit
    unowned record_time=-1d num_unowned=- num_partitions=9
    > warning partitions_unowned
      message="2 of 4 partitions of its topics have had no owner since 2026-11-21 02:54:00"
a later assignment left the new partitions out again
    grown
    no assignment_audit
    unowned num_unowned=0 record_time=-5.5m
    > warning partitions_unowned
      message="2 of 4 partitions of its topics have had no owner since 2026-11-21 02:54:30"
one new partition was seen later than the other
    grown
    no topic_snapshots
    captured captured_time=-60m partition=0..2
    captured captured_time=-6m partition=0..3
    captured captured_time=-1m partition=0..3
    > warning partitions_unowned
      message="2 of 4 partitions of its topics have had no owner since 2026-11-21 02:54:00"
offsets of partitions that no cluster can have say nothing
    grown
    offset_history group_id=g topic=t partition=2147483647
    offset_history group_id=g topic=t partition=-1
    > warning partitions_unowned
      message="2 of 4 partitions of its topics have had no owner since 2026-11-21 02:54:00"
another topic of that name had more partitions
    grown
    no topic_snapshots
    captured captured_time=-60m partition=0..8 topic_id=old
    captured captured_time=-6m partition=0..3 topic_id=new
    > warning partitions_unowned
      message="2 of 4 partitions of its topics have had no owner since 2026-11-21 02:54:00"
a rebalance may follow in the minutes after the snapshot
    grown
    no topic_snapshots
    captured captured_time=-60m partition=0..1
    captured captured_time=-5m partition=0..3
a rebalance did not follow for more than five minutes after the snapshot
    grown
    no topic_snapshots
    captured captured_time=-60m partition=0..1
    captured captured_time=-5m-1s partition=0..3
    > warning partitions_unowned
the log is not known for so long after the snapshot
    grown
    no history_coverage
    history_coverage offsets_partition=2 to_time=-1m
    history_coverage offsets_partition=1 to_time=now
the log is known for so long after the snapshot
    grown
    no history_coverage
    history_coverage offsets_partition=2 to_time=-1m+1s first_offset=9
    history_coverage offsets_partition=2 to_time=-1d
    > warning history_hole
    > warning partitions_unowned
nothing is known of the log
    grown
    no history_coverage
the newest assignment was just made
    grown
    no assignment_audit
    unowned num_unowned=0 record_time=-5m
a snapshot after the as-of time shows new partitions
    grown
    no topic_snapshots
    captured captured_time=-60m partition=0..1
    captured captured_time=+1s partition=0..3
a topic was made anew with more partitions
    grown
    no topic_snapshots
    captured captured_time=-60m partition=0..3 topic_id=old
    captured captured_time=-3m partition=0..3 topic_id=new
a topic is gone at the as-of time
    grown to_time=now
    no topics
    topics topic=t to_time=now
a topic goes only later
    grown
    no topics
    topics topic=t to_time=+1s from_time=now
    > warning partitions_unowned
a topic comes only later
    grown
    no topics
    topics topic=t from_time=+1s
no topic of the name is known
    grown
    no topics
    topics topic=u
an offset names a partition that the newest snapshot does not have
    grown
    offset_history group_id=h topic=t partition=4
an offset of another topic, or of an earlier time, names such a partition
    grown
    offset_history group_id=g topic=u partition=4
    offset_history group_id=g topic=t partition=4 to_offset=9 to_time=now
    > warning partitions_unowned
an owner has a partition that the newest snapshot does not have
    grown
    owner partition=4
no member subscribes to the topic any more
    grown
    no generation_members
    generation_members group_id=g change=kept subscribed_topics=[u] assigned=[] assignment_offset=5 evidence=2:5-6
the member that subscribed to the topic has left
    grown
    no generation_members
    generation_members group_id=g change=left subscribed_topics=[t] assigned=[] assignment_offset=5 evidence=2:5-6
a member that subscribed to the topic was in an earlier generation
    grown
    generation_members group_id=g change=kept subscribed_topics=[u] assigned=[] assignment_offset=4 evidence=2:4-4
    no generation_members
    generation_members group_id=g change=kept subscribed_topics=[t] assigned=[] assignment_offset=4 evidence=2:4-4
    generation_members group_id=g change=kept subscribed_topics=[u] assigned=[] assignment_offset=5 evidence=2:5-6
members of a later generation do not count
    grown
    generation_members group_id=g change=kept subscribed_topics=[] assigned=[] assignment_offset=6 evidence=2:6-6
    > warning partitions_unowned
members in another offsets partition do not count
    grown
    no generation_members
    generation_members group_id=g change=kept subscribed_topics=[t] assigned=[] assignment_offset=5 evidence=3:5-6
a member may have more than is known
    grown
    generation_members group_id=g change=kept subscribed_topics=[t] assigned=- assignment_offset=5 evidence=2:5-6
      member_id=b
a member has a partition of a topic without a name
    grown
    owner topic=- partition=1
    > info unnamed_topics
owners in another offsets partition do not count
    grown
    owner partition=2..3 evidence=3:5-5
    > warning partitions_unowned
      message="2 of 4 partitions of its topics have had no owner since 2026-11-21 02:54:00"
a consumer group may leave new partitions without an owner
    grown
    no ownership_intervals
    owner group_type=consumer partition=0..1
    > warning partitions_unowned
members of a share group get no partition that is not ready
    grown
    no ownership_intervals
    owner group_type=share partition=0..1
every partition has an owner
    grown
    owner partition=2..3
partitions get an owner only later, or had one before
    grown
    owner partition=2 from_time=+1s
    owner partition=3 to_offset=9 to_time=now
    > warning partitions_unowned
      message="2 of 4 partitions of its topics have had no owner since 2026-11-21 02:54:00"
two members subscribe to the topic, and its partitions count once
    grown
    generation_members group_id=g change=kept subscribed_topics=[u;t] assigned=[] assignment_offset=5 evidence=2:5-6
      member_id=b
    > warning partitions_unowned
      message="2 of 4 partitions of its topics have had no owner since 2026-11-21 02:54:00"
new partitions of another group's topic have owners there
    grown
    owner group_id=h partition=2..3
    > warning partitions_unowned

let ruled
    assignment_audit group_id=g verdict=same record_time=now partition_counts_source=snapshot assignment_offset=5
      checks="valid yes; redundant no a-0: 2 must own it" evidence=2:5-6 confidence=certain
{BROKEN}
rules of a group that are broken are one finding
    ruled checks="co_partitioned no a-1 and b-1; redundant no a-0: 2 must own it"
    stable
    > warning group_rule_broken num_rows=2
a broken rule of an assignment of an unknown time, without details
    ruled record_time=- checks="redundant no"
    stable
    > warning group_rule_broken message="redundancy: ?, since the assignment of ?"
a rule that rests on inferred numbers of partitions is likely broken
    ruled partition_counts_source=inferred
    stable
    > warning group_rule_broken confidence=likely
a rule that rests on numbers from nowhere is likely broken
    ruled partition_counts_source=-
    stable
    > warning group_rule_broken confidence=likely
an assignment that is only possible breaks a rule possibly
    ruled confidence=possible checks="rack_local no a-0"
    stable
    > warning group_rule_broken confidence=possible
members of a consumer group that are on their way have the assignment
    ruled
    stable state=Reconciling
    > warning group_rule_broken
a rule could not be checked
    ruled checks="redundant - a-0"
    stable
a rule is met
    ruled checks="redundant yes a-0"
    stable
another check is not a rule of the settings
    ruled checks="balanced no a-0"
    stable
nothing was checked
    ruled checks=-
    stable
an assignment that withholds partitions is followed by another one
    ruled checks="redundant no a-0; withheld yes a-0"
    stable
another group withholds partitions
    ruled
    stable
    ruled group_id=h checks="withheld yes a-0"
    stable group_id=h
    > warning group_rule_broken group_id=g
a later assignment meets the rule
    ruled record_time=-1d
    ruled checks="redundant yes a-0" assignment_offset=6
    stable
a rule is broken only after the as-of time
    ruled record_time=+1s
    stable
a rule was broken as of an earlier time, and is met by now
    with as_of=-40d
    ruled record_time=-80d
    ruled record_time=-39d checks=[] assignment_offset=6
    stable to_time=-39d to_offset=9 is_to_exact=yes
    > warning group_rule_broken confidence=certain
the assignment that breaks a rule may have ended earlier
    with as_of=-40d
    ruled record_time=-80d
    stable to_time=-39d to_offset=9
    > warning group_rule_broken confidence=likely
the group moved to another offsets partition
    ruled
    ruled evidence=1:5-6 checks="redundant yes a-0"
    stable from_time=-1d
    stable evidence=1:9-9 from_time=now
an earlier assignment in the group's offsets partition has the offset of one elsewhere
    ruled evidence=1:5-6 record_time=-1d
    ruled evidence=1:6-6 assignment_offset=6 checks="redundant yes a-0"
    ruled evidence=2:5-6 checks="redundant yes a-0"
    stable evidence=1:9-9
nobody has the assignment any more
    ruled
    stable state=Empty num_members=0
the state of the group is not known
    ruled
the state of the group has ended
    ruled
    stable to_offset=9 to_time=now
the next assignment of the group is on its way
    ruled
    stable state=CompletingRebalance

let stuck
    assignor_upgrades group_id=g phase=stuck migration=eager_to_cooperative started_time=-1h evidence=2:5-6
      confidence=possible
a migration is stuck
    stuck
    > warning upgrade_stuck group_id=g topic=- partition=- evidence=2:5-6 confidence=possible at_time=-
      message="the migration eager_to_cooperative began at 2026-11-21 02:00:00 and is not complete: it has stopped, or
      went back"
a migration of an unknown time is stuck
    stuck started_time=-
    > warning upgrade_stuck
      message="the migration eager_to_cooperative began at ? and is not complete: it has stopped, or went back"
a migration is still under way
    stuck phase=in_progress
a migration that begins at the as-of time is stuck, a later one is none yet
    stuck started_time=now group_id=g
    stuck started_time=+1s group_id=h
    > warning upgrade_stuck group_id=g
""")


@pytest.mark.parametrize("name", CASES)
def test_of_these_rows_these_are_the_findings(name: str, answer: Answer) -> None:
    check(CASES[name], answer)

"""What consecutive values of a classic group show: states, causes, how members left, and traps of the log."""

from tests.make.coordinator import created, dead, value
from tests.make.history import test_of
from tests.make.log import NOT_ARCHIVED, Log

TWO = "a: t0 t1, b: t2"
BEFORE = ((0, created(0)), (3100, value(1, TWO, state=3000)))


def after(*entries, **known):
    return Log(*BEFORE, *entries, **known)


def second(members, **more):
    """A second generation."""
    return after((9000, value(2, members, state=8900, **more)))


STATES = {
    "a value completes at its time what began at its state time": (second(TWO), """
        states state from_time to_time is_to_exact generation_or_epoch => PreparingRebalance 0 3000 no 0
            | CompletingRebalance 3000 3100 yes 1 | Stable 3100 8900 no 1
            | CompletingRebalance 8900 9000 yes 2 | Stable 9000 - yes 2"""),
    "a new group waits for its members from its first value on": (
        Log((0, created(0)), (300_001, value(1, "a: t0", state=300_000))), """
        states state confidence => PreparingRebalance likely | CompletingRebalance certain | Stable certain"""),
    "a new group waits for no longer than its members may take": (
        Log((0, created(0)), (300_002, value(1, "a: t0", state=300_001))), """
        states state => Empty | CompletingRebalance | Stable"""),
    "an emptied group is empty from its state time on, and keeps its generation and type": (
        after((9000, value(2, state=8999))), """
        states state from_time generation_or_epoch protocol_type assignor num_members => … | Empty 8999 2 consumer - 0
        rebalances outcome trigger mode sync_ms num_unowned members_departed => … | emptied group_emptied - - 3 a,b"""),
    "a state time that is unknown leaves the join phase out": (
        Log((1000, value(1, TWO)), (5000, value(2, TWO))), """
        states state from_time to_time => Stable 1000 5000 | Stable 5000 -
        rebalances sync_ms start_time => - 1000 | - 5000"""),
    "a state time before the last value is not before that value": (
        after((9000, value(2, TWO, state=1000))), "states from_time to_time => … | 3100 9000 | 9000 -"),
    "a state time after the value is not after it": (
        after((9000, value(2, TWO, state=9500))), "states state to_time => … | Stable 9000 | Stable -"),
    "records without time make intervals without time": (
        Log((None, value(1, TWO)), (None, value(2, TWO))),
        "states from_time to_time to_record_offset => - - 1 | - - -"),
    "a tombstone ends an empty group": (
        after((9000, value(2, state=8999)), (20_000, dead())), """
        states to_time ended_by is_to_exact is_provisional => … | 20000 deleted yes no
        anomalies kind =>"""),
    "a group that is made again starts anew": (
        after((9000, value(2, state=8999)), (20_000, dead()), (30_000, value(1, TWO, state=29_000))), """
        rebalances trigger from_generation unpersisted_rounds => … | group_created - 0
        anomalies kind =>"""),
    "a tombstone of a group with members is impossible": (
        after((20_000, dead())), """
        anomalies kind severity => impossible_order warning
        members leave_kind to_time => group_deleted 20000 | group_deleted 20000
        owners ended_by => group_deleted | group_deleted | group_deleted"""),
    "after missing records such a tombstone is possible, and its time is not exact": (
        after(7, (20_000, dead())), """
        anomalies kind =>
        owners is_to_exact => no | no | no"""),
    "a group may be emptied and deleted in one batch and millisecond": (
        after((20_000, value(2, state=19_999), dead())), """
        anomalies kind =>
        states ended_by => … | deleted"""),
    "a group may be deleted and made again in one batch and millisecond": (
        after((9000, value(2, state=8999)), (20_000, dead(), created(20_000)),
              (30_000, value(1, TWO, state=29_000))), """
        states state ended_by to_record_offset => … | Empty deleted 3 | PreparingRebalance next_state 5
            | CompletingRebalance next_state 5 | Stable - -
        rebalances trigger from_generation unpersisted_rounds => … | group_created 0 0
        anomalies kind =>"""),
    "so may one that still had members, which is impossible": (
        after((20_000, dead(), created(20_000))), """
        members leave_kind to_record_offset => group_deleted 2 | group_deleted 2
        owners ended_by => group_deleted | group_deleted | group_deleted
        anomalies kind record_offset => impossible_order 2"""),
    "history time outlives a group": (
        Log((9, value(1)), (10, dead()), (5, value(1))), "states from_time => … | 10"),
}  # fmt: skip
CAUSES = {
    "the first assignment creates the group": (after(), """
        rebalances trigger confidence from_generation unpersisted_rounds sync_ms num_members_before =>
            group_created certain 0 0 100 0"""),
    "without the records before it no one knows what caused the first value": (
        Log(7, (3100, value(4, TWO, state=3000))), """
        rebalances trigger confidence from_generation unpersisted_rounds => unknown possible - -
        states is_from_exact => no | no
        owners is_from_exact => no | no | no
        sets previous_assigned => - | -"""),
    "members that joined cause a rebalance": (
        second(TWO + ", c"), "rebalances trigger confidence => … | member_joined certain"),
    "members that left cause a rebalance": (
        second("a: t0 t1"), "rebalances trigger confidence => … | member_left certain"),
    "where members joined and left no one knows who was first": (
        second("a: t0 t1, c: t2"), """
        rebalances trigger confidence members_joined members_departed num_members_before num_members_after =>
            … | member_joined likely c b 2 2"""),
    "another assignor is named before the members that brought it": (
        second("a: t0 t1, c: t2", protocol="cooperative-sticky"), """
        rebalances trigger confidence => … | assignor_changed certain
        states assignor => … | cooperative-sticky"""),
    "another subscription of a member is the likely cause": (
        second("a(tu): t0 t1, b: t2"), "rebalances trigger confidence => … | subscription_changed likely"),
    "partitions that had no owner show changed topics": (
        second("a: t0 t1, b: t2 t3"), "rebalances trigger confidence => … | metadata_changed likely"),
    "partitions that are gone show changed topics": (
        second("a: t0, b: t2"), "rebalances trigger confidence => … | metadata_changed likely"),
    "a rebalance that changes nothing comes from a member that rejoined": (
        second(TWO), "rebalances trigger confidence => … | leader_rejoined likely"),
    "a follow-up is no change of topics": (
        after((9000, value(2, "a: t0 < t0 t1 @1, b: t2 < t2 @1, c", state=8900)),
              (9500, value(3, "a: t0 < t0 @2, b: t2 < t2 @2, c: t1 @2", state=9400))), """
        rebalances trigger confidence is_follow_up =>
            group_created certain no | member_joined certain no | leader_rejoined likely yes"""),
    "what a round withholds is no change of topics": (
        Log((1000, value(1, TWO, state=900)), (2000, value(2, "a: t0 < t0 t1 @1, b: t2 < t2 @1", state=1900))), """
        rebalances trigger => … | leader_rejoined"""),
    "a generation that starts again under a new leader epoch shows a lost round": (
        after((9000, value(1, "c: t0 t1 t2", state=8900), {"epoch": 2})), """
        rebalances trigger confidence => … | coordinator_failover likely"""),
    "a generation that goes back under a new leader epoch is reported too": (
        after((5000, value(5, TWO, state=4900)), (9000, value(3, TWO, state=8900), {"epoch": 1})), """
        rebalances trigger unpersisted_rounds => … | coordinator_failover -
        anomalies kind record_offset => generation_went_back 3"""),
    "a generation that goes back without another leader has no known cause": (
        after((5000, value(5, TWO, state=4900)), (9000, value(3, TWO, state=8900))), """
        rebalances trigger confidence => … | unknown possible"""),
    "skipped generations are counted as rounds that left no value": (
        after((9000, value(5, "a: t0 t1", state=8900))), """
        rebalances unpersisted_rounds trigger confidence from_generation to_generation => …
            | 3 member_left likely 1 5"""),
    "where records are missing skipped generations show neither rounds nor a cause": (
        after(7, (9000, value(5, "a: t0 t1", state=8900))), """
        rebalances unpersisted_rounds trigger members_departed => … | - unknown b
        members leave_kind is_to_exact member_id=b => unknown no"""),
    "the next generation shows its cause in spite of missing records": (
        after(7, (9000, value(2, "a: t0 t1", state=8900))), "rebalances trigger confidence => … | member_left certain"),
    "another leader is named beside the old one": (
        second(TWO, leader="b"), """
        rebalances leader_before leader_after => … | a b
        sets is_leader assignment_offset=2 => no | yes"""),
    "members of a group that was empty have joined": (
        after((9000, value(2, state=8999)), (12_000, value(3, TWO, state=11_000))), """
        rebalances trigger confidence => … | member_joined certain"""),
    "the order of topics in a subscription means nothing": (
        after((9000, value(2, "a(tu): t0 t1 t2", state=8900)), (9900, value(3, "a(ut): t0 t1 t2", state=9800))), """
        rebalances trigger => … | leader_rejoined"""),
}  # fmt: skip
DETAILS = {
    "a member joined": (second(TWO + ", c"), "member_joined member c (10.0.0.1) joined"),
    "a member left": (second("a: t0 t1 t2"), "member_left member b (10.0.0.1) left"),
    "one joined and one left": (
        second("a: t0 t1, c: t2"), "member_joined member c (10.0.0.1) joined; member b (10.0.0.1) left"),
    "another assignor": (second(TWO, protocol="sticky"), "assignor_changed range → sticky"),
    "another subscription": (
        second("a(tu): t0 t1 u0, b: t2"), "subscription_changed member a (10.0.0.1) subscribes to u too"),
    "more partitions": (second("a: t0 t1 t3 t4, b: t2"), "metadata_changed t 3 → 5 partitions assigned"),
    "a deleted topic": (second("a, b"), "metadata_changed topic t deleted, or not known to the leader"),
    "nothing changed": (second(TWO), "leader_rejoined members, subscriptions and assignor did not change"),
    "all left": (second(""), "group_emptied members a (10.0.0.1), b (10.0.0.1) left"),
    "a failover": (
        after((9000, value(1, "a: t0 t1 t2", state=8900), {"epoch": 4})),
        "coordinator_failover leader epoch 0 → 4, generation 1 → 1; member b (10.0.0.1) left"),
    "a follow-up": (
        after((9000, value(2, "a: t0 < t0 t1, b: t2 < t2", state=8900)),
              (9900, value(3, "a: t0 < t0, b: t1 t2 < t2", state=9800))),
        "leader_rejoined assigns 1 partition, which generation 2 withheld from their new owners"),
}  # fmt: skip
STATIC = ((1000, value(1, "a: t0 t1, b/i: t2", state=900)),)
LEAVING = {
    "a member that is gone had left by the end of the join phase": (
        second("a: t0 t1"), """
        members from_time to_time is_to_exact leave_kind joined_generation left_generation confidence member_id=b =>
            3000 8900 no left 1 2 certain
        members is_provisional ended_by member_id=a => yes -"""),
    "a static member that is gone did not come back in time": (
        Log(*STATIC, (9000, value(2, "a: t0 t1", state=8900))), """
        members leave_kind confidence member_id=b => static_expired_likely likely"""),
    "a swap of a static member's id is no rebalance": (
        Log((1000, value(1, "a: t0 t1, b/i: t2", state=900)), (9000, value(1, "a: t0 t1, z/i(tu): t2", state=1001))),
            """
        rebalances assignment_offset => 0
        states state to_time => CompletingRebalance 1000 | Stable -
        members member_id from_time to_time is_to_exact leave_kind joined_generation =>
            a 900 - yes - 1 | b 900 9000 yes static_replaced 1 | z 9000 - yes - 1
        owners member_id from_time to_time ended_by tp=t2 => b 1000 9000 static_replaced | z 9000 - -
        moves tp kind from_member_id to_member_id idle_ms move_offset=1 => t2 returned b z -"""),
    "several ids may be swapped at once": (
        Log((1000, value(3, "a/i: t0, b/j: t1", state=900)), (2000, value(3, "y/i: t0, z/j: t1", state=1000))), """
        rebalances assignment_offset => 0
        members member_id leave_kind => a static_replaced | b static_replaced | y - | z -"""),
    "the same generation with other members is no swap": (
        Log((1000, value(3, "a: t0", state=900)), (2000, value(3, "b: t0", state=1900), {"epoch": 1})), """
        rebalances trigger => … | coordinator_failover"""),
    "a static member that comes back with a rebalance is restarted": (
        Log(*STATIC, (9000, value(2, "a: t0 t1 @1, z/i: t2", state=8900))), """
        rebalances trigger confidence members_joined members_departed num_members_before num_members_after =>
            … | static_restart certain . . 2 2
        sets member_id change previous_assigned assignment_offset=1 => a kept t0,t1 | z restarted t2
        members leave_kind to_time member_id=b => static_replaced 8900
        owners member_id from_time to_time ended_by tp=t2 => b 1000 8900 static_replaced | z 9000 - -"""),
    "a swap after missing records claims no join phase for the days between": (
        Log(9, (500_000, value(1, "a/i: t0", state=1000))), """
        states state from_time is_from_exact => Stable 500000 no
        rebalances sync_ms => -"""),
    "the same value again changes nothing": (
        after((9000, value(1, TWO, state=3000))), """
        states state from_time to_time => PreparingRebalance 0 3000 | CompletingRebalance 3000 3100 | Stable 3100 -
        rebalances trigger => group_created
        members evidence_last_offset member_id=a => 2"""),
    "an instance that an older member took over is no restart": (
        Log((1000, value(1, "a/i: t0, b: t1", state=900)), (9000, value(2, "b/i: t0 t1 @1", state=8900))), """
        sets change member_id assignment_offset=1 => left a | kept b
        members leave_kind member_id=a => static_expired_likely"""),
}  # fmt: skip
TRAPS = {
    "the form of a new group is an empty group without a rebalance": (
        Log((1000, created(1000))), """
        states state generation_or_epoch protocol_type from_time to_time => Empty 0 "" 1000 -
        rebalances trigger =>"""),
    "an empty group of a generation was emptied": (
        Log((1000, value(4, state=999))), """
        states state generation_or_epoch protocol_type from_time to_time => Empty 4 consumer 999 -
        rebalances outcome => emptied"""),
    "the form of a new group begins at its record, so that it does not overlap what was before": (
        Log((1000, value(0, state=998, protocol_type=""))), "states from_time => 1000"),
    "a tombstone of a group that never had a value is no event": (
        Log((1000, dead())), "states state =>\nanomalies kind =>\nrebalances trigger =>"),
    "a tombstone of an unknown group makes what follows exact": (
        Log(5, (1000, dead()), (9000, value(1, "a: t0", state=8900))), """
        rebalances trigger unpersisted_rounds => group_created 0"""),
    "an assignment of length 0 is nothing, and not unreadable": (
        Log((1000, value(1, "a: t0, b: -", state=900))), """
        sets assigned member_id=b => .
        anomalies kind =>
        rebalances num_partitions => 1"""),
    "an assignment that cannot be read leaves counts unknown and is reported": (
        Log((1000, value(1, "a: t0, b: ?", state=900))), """
        sets assigned added => t0 t0 | - -
        rebalances num_partitions num_moved stopped_partition_ms => - - -
        anomalies kind severity => foreign_payload info"""),
    "a subscription that cannot be read claims nothing": (
        Log((1000, value(1, "a!: t0", state=900))), """
        sets subscribed_topics claimed_owned => - -
        anomalies kind => foreign_payload"""),
    "groups of other protocol types have members and no partitions": (
        Log((1000, value(1, "w!: ?", state=900, protocol_type="connect", protocol="sessioned"))), """
        anomalies kind =>
        owners tp =>
        members member_id => w
        rebalances mode num_partitions trigger => - - group_created
        states state assignor => … | Stable sessioned"""),
    "one batch with several groups is one operation of each": (
        Log((1000, value(1, "a: t0", state=900), value(1, "b: t0", state=900, group="h"))), """
        rebalances group_id assignment_offset => g 0 | h 1"""),
    "the last value of a batch at one time counts, and rounds between are no lost ones": (
        Log((0, created(0)), (1000, value(1, "a: t0", state=900), value(2, state=1000))), """
        rebalances assignment_offset to_generation unpersisted_rounds => 2 2 0
        states state => Empty | Empty"""),
    "records missing before any value of an operation make it inexact": (
        Log((0, created(0)), 4, (9000, value(3, "a: t0"), value(4, "a: t0"))), """
        rebalances unpersisted_rounds trigger => - group_created"""),
    "operations of one batch at two times are two": (
        Log((1000, value(1, "a: t0", state=900), value(2, state=1004).but(later=5))), """
        rebalances assignment_offset => 0 | 1"""),
    "records of an archive without batches are one operation at one time": (
        Log((1000, value(1, "a: t0", state=900)), 3, (1000, value(2, state=1000)), lacks=NOT_ARCHIVED), """
        rebalances assignment_offset => 4"""),
    "a clock that steps back turns no interval around, and is reported beyond a second": (
        Log((10_000, value(1, "a: t0", state=9900)), (9500, value(2, "a: t0", state=9400)), (5000, value(3, "a: t0"))),
        """
        states from_time to_time => … | 10000 10000 | 10000 10000 | 10000 -
        anomalies kind record_offset message =>
            clock_went_back 2 record time lies 5,000 ms before that of an earlier record"""),
    "a compacted log that kept only the newest value claims nothing before it": (
        Log(50, (9000, value(7, "a: t0", state=8900))), """
        states from_time is_from_exact => 8900 no | 9000 no
        members from_time is_from_exact => 8900 no"""),
    "a hole ends everything, and nothing is claimed for it": (
        Log((1000, value(1, "a: t0", state=900)), (4000, value(1, "z: t0", group="h")), "9", (9000, dead("h"))), """
        states to_time to_record_offset ended_by is_to_exact group_id=g => … | 4000 1 coverage_hole no
        members to_time to_record_offset ended_by is_to_exact leave_kind group_id=g =>
            4000 1 coverage_hole no coverage_hole
        owners to_time to_record_offset ended_by is_to_exact group_id=g => 4000 1 coverage_hole no"""),
    "the order of partitions means nothing": (
        Log((1000, value(1, "a: u0 t1 t0", state=900)), (2000, value(2, "a: t0 t1 u0 < u0 t1 t0", state=1900))), """
        owners tp to_time => t0 - | t1 - | u0 -
        sets kept added => … | t0,t1,u0 ."""),
    "partitions below 0 are left out and reported, and no other group suffers": (
        Log((1000, value(1, "a: t-1 t0 t1 < t1 u-2147483648 u-1, b: u2", state=900)),
            (1000, value(1, "c: v0", state=900, group="h"))), """
        owners member_id tp => a t0 | a t1 | b u2 | c v0
        sets member_id claimed_owned assigned => a t1 t0,t1 | b . u2 | c . v0
        anomalies group_id kind record_offset message => g negative_partition 0 ignored negative partition numbers,
            which no topic has: a claims u--1, u--2147483648, a has t--1"""),
    "of a member id that appears twice the last entry counts, as for the coordinator": (
        Log((1000, value(1, "a: t0, b: t1, a: t2", state=900)), (5000, value(2, "b: t1", state=4900))), """
        sets member_id assigned generation_or_epoch=1 => a t2 | b t1
        owners member_id tp from_record_offset=0 => b t1 | a t2
        states num_members generation_or_epoch=1 state=Stable => 2
        rebalances num_members_after num_partitions => 2 2 | 1 1
        anomalies kind message => duplicate_member member a appears twice in generation 1: the last entry counts"""),
    "names of any kind survive a cut between runs": (
        Log((0, created(0, '"\\\n\u2028')), (3100, value(1, 'a"\0: t0', state=3000, group='"\\\n\u2028')),
            (5000, dead('"\\\n\u2028'))), 'owners member_id tp => a"\0 t0'),
    "generations below 0 leave the number of rebalances unknown": (
        Log((0, value(-(1 << 31))), (1000, value((1 << 31) - 1))), "rebalances unpersisted_rounds => … | -"),
    "of 300 members that change places each partition is found with the one that gets it": (
        Log((1, value(1, ",".join(f"m{n}: t{n}" for n in range(300)))),
            (2, value(2, ",".join(f"m{n}: t{299 - n}" for n in range(300))))), """
        moves from_member_id to_member_id assignment_offset=1 tp=t7 => m7 m292
        moves from_member_id to_member_id assignment_offset=1 tp=t299 => m299 m0
        rebalances num_moved => … | 300"""),
}  # fmt: skip
CASES = {
    **STATES, **CAUSES, **LEAVING, **TRAPS,
    **{f"details: {name}": (log, f"rebalances trigger trigger_detail => … | {text}") for name, (log, text) in
       DETAILS.items()},
    **{f"a member that should give up and left {gone} ms later: {kind}": (
        after((9000, value(2, "a: t0 < t0 t1, b: t2 < t2, c", state=8900)),
              (9100 + gone, value(3, "b: t2 < t2, c: t0 t1", state=9000 + gone))),
        f"members leave_kind member_id=a => {kind}")
       for gone, kind in ((60_000, "left_or_timed_out"), (301_000, "rebalance_timeout_likely"),
                          (400_000, "left_or_timed_out"))},
}  # fmt: skip
test_classic_groups = test_of(CASES)

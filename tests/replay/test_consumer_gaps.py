"""What the log of a consumer group shows when records are missing or contradict each other; and logs that no
coordinator writes."""

from tests.make.coordinator import consumer, created, dead, share, value
from tests.make.history import test_of
from tests.make.log import Log
from tests.replay.test_consumer_groups import ONE, one, two

member, epoch, target, done, owns = consumer.member, consumer.epoch, consumer.target, consumer.done, consumer.owns
left, gone = consumer.left, consumer.gone
EMPTY = (0, value(1))
FOURTH = (500, member("c"), epoch(4), target("c"), done(4), owns("c", 4, previous=0))


GAPS = {
    "after missing records a new owner shows that the old one gave up": (
        one(1, (100, member("b"), owns("b", 2, "t1", previous=0))), """
        owners member_id ended_by is_to_exact tp=t1 => a reassigned no | b - yes
        anomalies kind severity => older_rule info"""),
    "a member that was reported to have lost a partition may name it again": (
        one(1, (100, member("b"), owns("b", 2, "t1", previous=0)), (200, owns("a", 2, "t0 t1"), epoch(3))), """
        anomalies kind => older_rule | two_owners"""),
    "targets without the record that completes them are reported, once": (
        one((100, epoch(3), target("a", "t0")), (200, owns("a", 2, "t0 t1")), (300, owns("a", 2, "t0"))), """
        anomalies kind evidence_first_offset => target_write_incomplete 6"""),
    "targets whose completion may be cleaned away are not reported": (
        one((100, epoch(3), target("a", "t0")), 1, (200, owns("a", 2, "t0 t1"))), "anomalies kind =>"),
    "a copy of a static member whose tombstones are cleaned away is not reported": (
        one(3, (100, member("a2", instance="one"), target("a2", "t0"), owns("a2", 0, "t0", previous=0)),
            (200, owns("a2", 2, "t0"))), "anomalies message kind=target_write_incomplete =>"),
    "a member that is removed with its assignment is reported": (
        one((100, gone(5, "a"), epoch(3))), "anomalies kind => impossible_order"),
    "a group that is deleted with members is reported": (one((100, gone(3))), """
        anomalies kind => impossible_order
        members leave_kind => group_deleted"""),
    "a record of another type of group is reported": (one((100, share.member("s"), share.epoch(2))), """
        anomalies kind => type_conflict
        states group_type ended_by => consumer converted | share -"""),
    "after a hole nothing is claimed": (two(FOURTH, "100", (9_000, owns("a", 7, "t0", previous=6))), """
        states to_time is_to_exact ended_by=coverage_hole => 500 no
        members to_time is_to_exact ended_by=coverage_hole => 500 no | 500 no | 500 no
        owners to_time is_to_exact ended_by=coverage_hole => 500 no | 500 no
        states from_record_offset is_from_exact state generation_or_epoch num_members confidence is_provisional=yes =>
            119 no Stable - - possible
        members from_record_offset is_from_exact is_provisional=yes => 119 no
        owners from_record_offset is_from_exact is_provisional=yes => 119 no
        rebalances outcome is_provisional end_time to_generation=4 => open no -"""),
    "the members left after a hole are not known until the group is a new one": (
        two("100", (9_000, left("a"), epoch(8), done(8)), (9_100, gone(6), gone(3)),
            (9_200, member("c"), epoch(2), target("c", "t0"), done(2), owns("c", 2, "t0", previous=0))), """
        states state num_members confidence => … | - - possible | Stable 1 certain"""),
    "a group met in the middle has no epochs until they are written": (
        Log(50, (0, owns("a", 7, "t0", previous=6)), (100, done(8)), (200, epoch(9))), """
        states state generation_or_epoch confidence =>
            Stable - likely | Reconciling - likely | Assigning 9 certain
        members client_id is_from_exact => - no
        rebalances trigger confidence is_start_exact => unknown possible no"""),
    "the first epoch of all proves a new group, whatever is missing": (
        Log(50, (0, member("a"), epoch(2), owns("a", 1, previous=0)),
            (100, target("a", "t0"), done(2), owns("a", 2, "t0", previous=1))), """
        states state => Assigning | Stable
        rebalances trigger => group_created
        members is_from_exact => yes"""),
    "a member that leaves where records are missing left for unknown reasons": (
        one(2, (100, left("a"), epoch(3))), "members leave_kind is_to_exact => unknown no"),
    "tombstones of what is not there are nothing": (
        Log((0, left("a"), gone(6), gone(16, "a.*"), gone(4), gone(3))), """
        states state =>
        members member_id =>
        anomalies kind =>"""),
    "tombstones of members that are not there are nothing": (one((100, left("x"))), """
        members member_id to_time => a -
        anomalies kind =>"""),
    "records without times make rows without times": (
        Log((None, ONE[0][1:]), (None, left("a"), epoch(3, None))), """
        rebalances outcome end_time duration_ms => completed - - | emptied - -"""),
    "the record of a member that goes away proves no join": (
        Log(50, (0, owns("a", -2, "t0", previous=0))), "members is_from_exact => no"),
    "a group is not empty where compaction left neither members nor its epoch": (
        Log(3, (0, done(5)), 2, (100, epoch(6))), "states state num_members => - - | Empty 0"),
    "a member that joins without an epoch shows that the group was not empty": (
        Log(3, (50, done(3)), (100, epoch(4)),
            (200, left("a"), member("b", instance="ib"), target("b", "t0"), owns("b", 3, "t0", previous=0)),
            (300, epoch(5), member("c"))), "states state num_members => - - | - - | Assigning 1 | Assigning 2"),
    "a group of which no record is missing was empty": (
        Log((100, epoch(2)), (200, member("b"), target("b", "t0"), owns("b", 2, "t0", previous=0))), """
        states state num_members => Empty 0 | Assigning 1"""),
    "a state after missing records may have begun earlier": (
        one(1, (100, epoch(3))), "states is_from_exact is_to_exact => yes no | no yes"),
    "a member that is known does not join again by a record that kept its first epoch": (
        one(1, (100, owns("a", 2, "t0", previous=0))), """
        owners to_time is_to_exact tp=t1 => 100 no
        members from_record_offset => 4"""),
}  # fmt: skip
IMPOSSIBLE = {
    "tombstones of another type are reported, and leave a classic group as it is": (
        Log(EMPTY, (1_000, gone(8, "a"), gone(3)), (2_000, value(2))), """
        anomalies kind severity record_offset evidence_first_offset message => impossible_order critical 2 1
            tombstones of record types 3, 8 for a classic group, which has only type 2
        states generation_or_epoch => 1 | 2"""),
    "a classic group that another type replaced and deleted in one operation has ended": (
        Log(EMPTY, (1_000, epoch(2), gone(3))), """
        anomalies kind => type_conflict
        states ended_by to_record_offset is_to_exact => deleted 2 no"""),
    "a value for a group of another type replaces it and is reported": (
        one((100, value(1, "c: t0", state=90))), """
        anomalies kind severity => type_conflict warning
        states group_type generation_or_epoch => … | classic 1"""),
    "a contradiction in one group is none in the next": (
        Log(EMPTY, (1_000, gone(3)), (1_100, created(1_100, "h")), (1_200, dead("h"))), """
        anomalies group_id => g
        states group_id state ended_by => g Empty - | h Empty deleted"""),
    "a target with the epoch of the one before is reported, and is one of its own": (
        Log((0, share.member("a"), share.epoch(2), share.target("a", "t0"), share.done(2),
             share.owns("a", 2, "t0", previous=0)), (100, share.owns("a", 2)),
            (200, share.target("a", "t0"), share.done(2)), (300, share.owns("a", 2, "t0"))), """
        anomalies kind severity record_offset evidence_first_offset message => impossible_order warning 7 3
            target epoch 2 is completed again: each target has an epoch of its own
        rebalances assignment_offset from_generation to_generation trigger => 3 - 2 group_created | 7 2 2 unknown
        moves assignment_offset kind to_member_id => 3 assigned a | 7 revoked - | 7 assigned a
        sets assignment_offset member_id => 3 a | 7 a"""),
    "after missing records such an epoch may be that of another group of the name": (
        Log((0, share.member("a"), share.epoch(2), share.target("a", "t0"), share.done(2),
             share.owns("a", 2, "t0", previous=0)), (100, share.owns("a", 2)), 4,
            (200, share.target("a", "t0"), share.done(2)), (300, share.owns("a", 2, "t0"))), """
        anomalies kind =>
        rebalances assignment_offset => 3 | 11"""),
    "of targets with one epoch in one operation the last counts": (
        Log((0, share.member("a"), share.epoch(2), share.target("a", "t0"), share.done(2)),
            (300, share.epoch(4), share.target("a", "t0"), share.done(4), share.done(4))), """
        anomalies kind evidence_first_offset => impossible_order 6
        rebalances assignment_offset to_generation=4 => 7"""),
    "partitions below 0 are left out and reported": (
        Log((0, member("a"), epoch(2), target("a", "t0 t-2"), done(2), owns("a", 2, "t0 t-1", revoking="u-7"))), """
        owners tp => t0
        anomalies kind record_offset => negative_partition 2 | negative_partition 4
        anomalies message record_offset=4 => ignored negative partition numbers, which no topic has:
            assigned_partitions t--1; partitions_pending_revocation u--7"""),
}  # fmt: skip
test_consumer_gaps = test_of({**GAPS, **IMPOSSIBLE})

"""Groups that change to another protocol, with the records that real brokers write for each conversion."""

from tests.make.coordinator import consumer, created, dead, streams, value
from tests.make.history import test_of
from tests.make.log import Log

member, epoch, target, done, owns = consumer.member, consumer.epoch, consumer.target, consumer.done, consumer.owns
left, gone = consumer.left, consumer.gone
OLD = member("c", session=45_000)
CLASSIC = ((0, created(0)), (50, value(1, "c: t0 t1", state=40)))
COPIED = (
    dead(),
    OLD,
    epoch(1),
    target("c", "t0 t1"),
    done(1),
    owns("c", 1, "t0 t1", previous=1),
    member("n"),
    epoch(2),
)
# A native member joins a classic group of one, which has partitions 0 and 1.
UPGRADED = (
    *CLASSIC,
    (100, *COPIED, target("n", "t1"), target("c", "t0"), done(2), consumer.waits("n", 2, previous=0)),
    (200, OLD, owns("c", 2, "t0", previous=1)),
    (300, owns("n", 2, "t1")),
)  # fmt: skip
# The native member leaves; the classic one goes on with its target.
DOWNGRADED = (
    *UPGRADED,
    (400, gone(8, "n"), gone(8, "c"), gone(7, "n"), gone(7, "c"), gone(6), gone(5, "n"), gone(5, "c"), gone(4), gone(3),
     value(2, "c: t0", state=399)),
)  # fmt: skip
ALONE = ((0, member("n"), epoch(2), target("n", "t0"), done(2), owns("n", 2, "t0", previous=0)),)
EMPTIED = (*ALONE, (100, left("n"), epoch(3, None)))
DELETED = (gone(6), gone(4), gone(3))


def adopted(*entries, members="c: t0 t1, d", number=2):
    """A downgrade that hands out more than the members owned, and what comes after it."""
    return Log(*UPGRADED, (400, *DOWNGRADED[-1][1:-1], value(number, members, state=399)), *entries)


CASES = {
    "an online upgrade cuts neither the member's interval nor what it owns": (Log(*UPGRADED), """
        members member_id from_time to_time => c 40 - | n 100 -
        owners member_id from_time to_time => c 50 - | c 50 200 | n 300 -
        owners tp from_time => t0 50 | t1 50 | t1 300"""),
    "the copied records of an upgrade are no rebalance, but those of the member that joins are": (Log(*UPGRADED), """
        rebalances group_type assignment_offset from_generation trigger start_time end_time num_moved =>
            classic 1 0 group_created 0 50 0 | consumer 12 1 protocol_migration 100 300 1
        sets member_id change previous_assigned generation_or_epoch=2 => c kept t0,t1 | n joined ."""),
    "rebalances after the conversion have causes of their own": (
        Log(*UPGRADED, (500, left("n"), epoch(3)), (600, target("c", "t0 t1"), done(3), owns("c", 3, "t0 t1",
            previous=2))),
        "rebalances trigger => … | member_left"),
    "the state goes over with the group": (Log(*UPGRADED), """
        states group_type state generation_or_epoch from_time to_time ended_by => … | classic Stable 1 50 100 converted
            | consumer Reconciling 2 100 300 next_state | consumer Stable 2 300 - -"""),
    "the target of the member that joins may come after the upgrade": (
        Log(*CLASSIC, (100, *COPIED, consumer.waits("n", 1, previous=0)),
            (1_000, target("n", "t1"), target("c", "t0"), done(2), consumer.waits("n", 2, previous=1))), """
        rebalances to_generation trigger start_time => 1 group_created 0 | 2 protocol_migration 100
        states group_type generation_or_epoch from_time to_time ended_by state=Assigning =>
            consumer 2 100 1000 next_state"""),
    "the epoch of the copied target goes on where a static member returns with the upgrade": (
        Log((0, created(0)), (50, value(1, "c: t0, s/one: t1", state=40)),
            (100, dead(), OLD, member("s", session=45_000, instance="one"), epoch(1), target("c", "t0"),
             target("s", "t1"), done(1), owns("c", 1, "t0", previous=1), owns("s", 1, "t1", previous=1), left("s"),
             member("n", instance="one"), target("n", "t1"), owns("n", 0, "t1", previous=0)),
            (200, owns("n", 1, "t1", previous=0))), """
        anomalies kind =>
        rebalances to_generation => 1"""),
    "a target that repeats the epoch of the copied one is reported": (
        Log(*CLASSIC, (100, *COPIED, consumer.waits("n", 1, previous=0)), (200, target("c", "t0"), done(1))), """
        anomalies kind message => impossible_order
            target epoch 1 is completed again: each target has an epoch of its own"""),
    "an online downgrade cuts neither the member's interval nor what it owns": (Log(*DOWNGRADED), """
        members member_id to_time leave_kind => c - - | n 400 left_or_timed_out
        owners member_id from_time to_time ended_by =>
            c 50 - - | c 50 200 revoked | n 300 400 member_left
        rebalances to_generation => 1 | 2
        anomalies kind =>"""),
    "after a downgrade because a member left the others are asked to join": (Log(*DOWNGRADED), """
        states group_type state generation_or_epoch from_time to_time ended_by =>
            … | consumer Stable 2 300 400 converted | classic PreparingRebalance 2 400 - -"""),
    "the generation after a downgrade hands out what the member that left had": (
        Log(*DOWNGRADED, (1_000, value(3, "c: t0 t1", state=900))), """
        rebalances trigger from_generation to_generation=3 => protocol_migration 2
        moves idle_ms tp=t1 to_member_id=c move_offset=27 => 600"""),
    "a classic static member that takes the last native one's place is no departure": (
        Log((0, member("n", instance="one"), *ALONE[0][2:]),
            (100, gone(8, "n"), gone(7, "n"), gone(6), gone(5, "n"), gone(4), gone(3), value(2, "c/one: t0",
             state=99))), """
        members member_id leave_kind => n static_replaced | c -
        owners member_id ended_by => n static_replaced | c -
        states group_type state => … | classic Stable"""),
    "an empty consumer group that a classic member joins starts at generation 0": (
        Log(*EMPTIED, (200, *DELETED, created(200)), (300, value(1, "c: t0", state=290))), """
        states group_type generation_or_epoch ended_by => consumer 2 next_state | consumer 3 converted
            | classic 0 next_state | classic 1 next_state | classic 1 -
        rebalances group_type to_generation => … | classic 1
        anomalies kind =>"""),
    **{f"a group is never of two types at once, where the classic value's own time is {time}": (
        Log(*EMPTIED, (200, *DELETED, value(0, state=time, protocol_type=""))), """
        states from_time to_time => … | 100 200 | 200 -""") for time in (90, 195, 250)},
    "an empty classic group becomes a consumer group": (
        Log((0, created(0)), (50, value(1, "c: t0", state=40)), (90, value(2, state=80)), (100, dead(),
            ALONE[0][1:])), """
        states group_type state from_time ended_by => … | classic Empty 80 converted | consumer Stable 100 -
        rebalances from_generation trigger => … | - protocol_migration"""),
    "an empty classic group becomes a streams group": (
        Log((0, created(0)), (100, dead(), streams.member("s"), streams.epoch(2))), """
        states group_type ended_by => classic converted | streams -"""),
    "a consumer group in place of a simple one is a new group": (
        Log((0, dead(), ALONE[0][1:])), "rebalances trigger => group_created"),
    "what goes over rests on the newest classic value": (
        Log((0, created(0)), (50, value(1, "c/i: t0", state=40)), (80, value(1, "c/i: t0", state=40)),
            (100, dead(), member("c", instance="i", session=45_000), epoch(1), target("c", "t0"), done(1),
             owns("c", 1, "t0", previous=1), member("n"), epoch(2))), """
        owners from_record_offset evidence_last_offset is_provisional=yes => 1 2"""),
    "what the copied value does not assign ends with the conversion": (adopted(members="c, d"), """
        owners member_id to_time ended_by tp=t0 => c 400 converted"""),
    "a copied value may hand out more than members owned": (adopted(), """
        states group_type state from_time => … | classic PreparingRebalance 400
        members member_id from_time is_provisional=yes => c 40 | d 400
        owners tp member_id from_time is_provisional=yes => t0 c 50 | t1 c 400
        rebalances to_generation => 1 | 2"""),
    "the generation after a conversion is a migration, and its claims keep intervals of the other protocol": (
        adopted((900, value(3, "c: t0 < t0 t1, d", state=850))), """
        rebalances trigger from_generation num_withheld to_generation=3 => protocol_migration 2 1
        owners phase from_time tp=t0 => assigned 50
        owners phase from_time tp=t1 is_provisional=yes => revoking 900"""),
    "a static swap between changes nothing about that": (
        adopted((500, value(2, "z/i: t0 t1, d", state=399)), (900, value(3, "z/i: t0 < t0 t1, d", state=850)),
                members="c/i: t0 t1, d"), """
        rebalances to_generation trigger => … | 2 protocol_migration | 3 protocol_migration"""),
    "the rebalance after that is an ordinary one": (
        adopted((900, value(3, "c: t0 t1 < t0 t1, d", state=850)), (1900, value(4, "c: t0 t1 < t0 t1, d",
            state=1850))), """
        rebalances trigger => … | protocol_migration | leader_rejoined"""),
}  # fmt: skip
test_conversions = test_of(CASES)

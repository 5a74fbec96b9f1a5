"""Who owns what between the values of a classic group, and the sets of KIP-429 that each member's callbacks get."""

from tests.make.coordinator import commit, value
from tests.make.history import test_of
from tests.make.log import Log


def rounds(*members, **more):
    """Generations from 1 on: the first at 1 s, others from 9 s on, each with a join phase that ended 100 ms before."""
    times = [1000, *range(9000, 99_000, 600)]
    return Log(*((time, value(number, each, state=time - 100, **more))
                 for number, (time, each) in enumerate(zip(times, members, strict=False), start=1)))  # fmt: skip


STAYS = {
    "eager members stop at the end of the join phase, and begin again with the assignment": (
        rounds("a: t0", "a: t0 @1"), """
        owners member_id phase from_time to_time ended_by is_to_exact tp=t0 =>
            a assigned 1000 8900 revoked no | a assigned 9000 - - yes
        moves kind from_member_id to_member_id idle_ms assignment_offset=1 => returned a a 100
        rebalances mode num_returned num_moved stopped_partition_ms => … | eager 1 0 100"""),
    "members that cannot claim stop as well": (rounds("a: t0 @v0", "a: t0 @v0"), """
        owners to_time tp=t0 => 8900 | -
        sets claimed_owned dropped_before_join => … | - t0"""),
    "an interval goes on where its member claimed the partition and got it again": (
        rounds("a: t0", "a: t0 < t0 @1"), """
        owners member_id phase from_time to_time ended_by is_to_exact generation_or_epoch => a assigned 1000 - - yes 1
        moves tp assignment_offset=1 =>
        rebalances mode stopped_partition_ms => … | cooperative 0"""),
    "what is claimed and not assigned is revoking until the next join phase ends": (
        rounds("a: t0 t1", "a: t0 < t0 t1 @1, b", "a: t0 < t0 @2, b: t1 @2"), """
        owners member_id phase from_time to_time ended_by is_to_exact tp=t1 =>
            a assigned 1000 9000 phase_changed yes | a revoking 9000 9500 reassigned no | b assigned 9600 - - yes
        moves kind from_member_id to_member_id idle_ms tp=t1 =>
            assigned - a - | withheld a - - | ready_to_migrate a b 100
        rebalances is_follow_up num_withheld num_moved num_maybe_revoking num_ready_to_migrate num_unowned =>
            no 0 0 0 2 0 | no 1 0 2 0 1 | yes 0 1 1 1 0"""),
    "what is withheld again goes on revoking": (
        rounds("a: t0 t1", "a: t0 < t0 t1 @1, b", "a: t0 < t0 t1 @2, b @2"), """
        owners phase from_time to_time tp=t1 => assigned 1000 9000 | revoking 9000 -
        rebalances num_withheld is_follow_up => … | 1 no | 1 no"""),
    "what was withheld and is assigned again was never stopped": (
        rounds("a: t0 t1", "a: t0 < t0 t1 @1, b", "a: t0 t1 < t0 t1 @2"), """
        owners phase from_time to_time ended_by tp=t1 =>
            assigned 1000 9000 phase_changed | revoking 9000 9600 phase_changed | assigned 9600 - -"""),
    "a partition of a member that left moves to another": (rounds("a: t0, b: t1", "a: t0 t1 < t0 @1"), """
        owners member_id phase from_time to_time ended_by is_to_exact tp=t1 =>
            b assigned 1000 8900 member_left no | a assigned 9000 - - yes
        moves kind from_member_id to_member_id idle_ms assignment_offset=1 => moved b a 100"""),
    "a partition of a member that stays, which another one gets, is reassigned": (
        rounds("a: t0 t1, b", "a: t0 @1, b: t1"), """
        owners member_id ended_by tp=t1 => a reassigned | b -
        moves kind from_member_id to_member_id idle_ms tp=t1 assignment_offset=1 => moved a b 100"""),
    "a partition that no member gets is revoked, and stopped until a member gets it": (
        Log((1000, value(1, "a(tu): t0 u0", state=900)), (9000, value(2, "a: t0 @1", state=8900)),
            (20_000, value(3, "a(tu): t0 u0 @2", state=19_900))), """
        moves kind from_member_id to_member_id idle_ms tp=u0 => assigned - a - | revoked a - - | assigned - a 11100
        rebalances num_unowned stopped_partition_ms => 0 0 | 1 100 | 0 11200"""),
    "what an emptied group left is stopped until members join": (
        Log((1000, value(1, "a: t0", state=900)), (5000, value(2, state=4999)), (9000, value(3, "b: t0", state=8900))),
        """
        owners member_id from_time to_time ended_by => a 1000 4999 member_left | b 9000 - -
        moves kind from_member_id to_member_id idle_ms => … | revoked a - - | assigned - b 4001"""),
    "a claim after missing records is an interval that may be older": (
        Log(9, (1000, value(4, "a: t0 < t0 t1 @3", state=900))), """
        owners tp phase from_time is_from_exact => t0 assigned 1000 no | t1 revoking 1000 no
        moves tp kind => t1 withheld"""),
    "a claim of what the member did not have is not exact, even where no record is missing": (
        rounds("a: t0", "a: t0 t1 < t0 t1 @1"), "owners tp is_from_exact => t0 yes | t1 no"),
    "a partition that another member gets from under its owner has two owners, and is reported": (
        rounds("a: t0 t1, b", "a: t0 < t0 t1 @1, b: t1"), """
        owners member_id phase to_time tp=t1 => a assigned 9000 | a revoking - | b assigned -
        anomalies kind severity => two_owners critical
        moves kind from_member_id to_member_id idle_ms tp=t1 assignment_offset=1 => moved a b 0"""),
    "a partition that two members get is reported": (rounds("a: t0", "a: t0, b: t0"), """
        anomalies kind severity message => two_owners critical t-0 was assigned to a and b
        owners member_id tp=t0 is_provisional=yes => a | b
        rebalances num_partitions => … | 1"""),
    "a move before the newest missing records waits for no commit any more": (
        Log((0, value(1, "a: t0, b")), (10, commit("t0", 5)), "3", (9000, value(2, "a, b: t0", state=8900)), "3",
            (29_000, value(3, "a, b: t0", state=28_900))), """
        moves to_member_id is_provisional => a no | b no | b yes"""),
    "two claims of one generation are reported": (rounds("a: t0, b", "a: t0 < t0 @1, b < t0 @1"), """
        anomalies severity message => warning t-0 was claimed by a and b"""),
    "an older claim beside a newer one is not reported": (
        rounds("a: t0, b", "a: t0 < t0 @1, b < t0 @0"), "anomalies kind =>"),
    "a static instance that appears twice is reported": (
        rounds("a: t0", "a/i: t0, b/i"), "anomalies kind => duplicate_instance"),
    "what was lost is reported as lost, whichever member gets it": (
        rounds("a: t0 t1 t2, b", "a: t0 @-1, b: t1 @1"), """
        moves tp kind from_member_id to_member_id idle_ms assignment_offset=1 =>
            t0 lost a a 100 | t1 lost a b 100 | t2 lost a - -
        rebalances num_moved num_returned num_unowned => … | 1 1 1"""),
    "a static instance has what its other id had": (
        rounds("a: t0, b/i: t1", "a: t0 < t0 @1, z/i: t1 @-1"), """
        sets previous_assigned lost change member_id=z => t1 t1 restarted"""),
    "a member that left is listed with what it had": (rounds("a: t0, b: t1", "a: t0 t1"), """
        sets change previous_assigned claimed_owned assigned subscribed_topics is_leader assignment_offset=1
            member_id=b => left t1 - . - no"""),
    "claims on topics that the leader does not know are unknown, not withheld": (
        rounds("a(tu): t0 u0", "a: t0 < t0 u0 @1"), """
        rebalances num_unknown_owned num_withheld num_maybe_revoking num_ready_to_migrate => … | 1 0 1 0
        moves kind from_member_id to_member_id idle_ms tp=u0 => … | unknown_owned a - -"""),
    "topics that a member subscribes to are withheld": (
        rounds("a(tu): t0 u0", "a(tu): t0 < t0 u0 @1"), "rebalances num_withheld num_unknown_owned => … | 1 0"),
    "topics that are assigned without a subscription are withheld": (
        rounds("a(tu): t0 u0", "a: t0 < t0 u0 @1, b: u1"), "rebalances num_withheld num_unknown_owned => … | 1 0"),
    "assignors before and after are those of the values": (
        Log((0, value(1, "a: t0", state=0)), (9, value(2, "a: t0", state=8, protocol="sticky")), (19, value(3,
            state=18))),
        "rebalances assignor_before assignor_after => - range | range sticky | sticky -"),
}  # fmt: skip
# What a member had, claimed and got; and: added, revoked, kept, lost, dropped before the join; previous and claimed.
SETS = {
    "added": ("t0", "t0 t1 < t0 @1", "t1 . t0 . . t0 t0"),
    "revoked, and a follow-up": ("t0 t1", "t0 < t0 t1 @1", ". t1 t0 . . t0,t1 t0,t1"),
    "dropped before the join": ("t0 t1", "t0 < t0 @1", ". . t0 . t1 t0,t1 t0"),
    "eager: all revoked before the join": ("t0 t1", "t0 t1 @1", "t0,t1 . . . t0,t1 t0,t1 ."),
    "lost: the member came back reset": ("t0 t1", "t0 @-1", "t0 . . t0,t1 . t0,t1 ."),
    "an older client is not known to be reset": ("t0 t1", "t0 @v1", "t0 . . . t0,t1 t0,t1 ."),
    "nothing to lose": ("", "t0 @-1", "t0 . . . . . ."),
    "a stale claim is a claim": ("t0", "t0 < t0 t1 @0", ". t1 t0 . . t0 t0,t1"),
}
MODES = {
    "a claim of nothing": ("range", "a: t0 @1", "eager"),
    "a claim": ("cooperative-sticky", "a: t0 < t0 @1", "cooperative"),
    "the second bounce of an upgrade, where a member is still eager": ("cooperative-sticky", "a: t0 @1", "eager"),
    "a member that was reset": ("cooperative-sticky", "a: t0 @-1", "cooperative"),
    "another member under a streams client": ("stream", "x: t0", "cooperative"),
    "another member under an unknown assignor": ("custom", "x: t0", "eager"),
}
test_classic_owners = test_of({
    **STAYS,
    **{f"sets: {name}": (rounds(f"a: {had}, b", f"a: {now}, b"), f"""
        sets added revoked kept lost dropped_before_join previous_assigned claimed_owned change assignment_offset=1
            member_id=a => {sets} kept""") for name, (had, now, sets) in SETS.items()},
    **{f"mode: {name}": (rounds("a: t0", now, protocol=protocol), f"rebalances mode => … | {mode}")
       for name, (protocol, now, mode) in MODES.items()},
})  # fmt: skip

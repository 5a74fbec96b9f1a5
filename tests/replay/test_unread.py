"""For how long nobody read a partition, way by way. Milliseconds; `t` is a topic."""

from tests.make.coordinator import commit, consumer, created, dead, value
from tests.make.history import test_of
from tests.make.log import Log

member, epoch, target, done, owns, waits, left = (
    consumer.member, consumer.epoch, consumer.target, consumer.done, consumer.owns, consumer.waits, consumer.left,
)  # fmt: skip
ALONE = (0, member("a"), epoch(2), target("a", "t0"), done(2), owns("a", 2, "t0"))
EMPTIED = (ALONE, (10_000, commit("t0", 1)), (10_010, left("a"), epoch(3)))
BACK = (15_000, member("b"), epoch(4), target("b", "t0"), done(4), owns("b", 4, "t0", previous=0))
CLASSIC_EMPTIED = ((0, created(0)), (50, value(1, "c: t0", state=40)), (5_000, commit("t0", 1)),
                   (5_010, value(2, state=5_010)))  # fmt: skip
BOUNDS = "kind idle_ms unread_low_ms unread_high_ms"


def gone(*failover):
    """`a` commits at 50 s, and is gone a little more than a session later."""
    return Log(
        (0, member("a"), epoch(2), target("a", "t0"), done(2), owns("a", 2, "t0")),
        (1_000, member("b"), epoch(3), target("b", "t1"), done(3), owns("b", 3, "t1")), (50_000, commit("t0", 5)),
        (60_000, commit("t1", 5), *failover), (100_000, left("a"), epoch(4), *failover),
        (101_000, target("b", "t0 t1"), done(4), *failover), (102_000, owns("b", 4, "t0 t1"), *failover),
    )  # fmt: skip


def growing(*more, seen):
    """A topic with one partition until then."""
    topics = {-1: {"t": 1}, seen: {"t": 1}, 30_000: {"t": 3}}
    return Log(ALONE, *more, topics=topics)


GREW = (9_000, epoch(3), target("a", "t0 t2"), done(3), owns("a", 3, "t0 t2", previous=2))

test_unread = test_of({
    "time without any member counts, until the first commit": (Log(*EMPTIED, BACK, (15_400, commit("t0", 2))), f"""
        moves {BOUNDS} => assigned - - - | revoked - - - | assigned 4990 4990 5400
        rebalances trigger longest_unread_high_ms => group_created - | group_emptied - | member_joined 5400"""),
    "or until the new owner can have its answer": (Log(*EMPTIED, BACK, (30_000, commit("t0", 2))), f"""
        moves {BOUNDS} unread_basis => … | assigned 4990 4990 10000 delivery 5.0 s assumed"""),
    "while nobody comes it has no end": (Log(*EMPTIED), f"""
        moves {BOUNDS} unread_basis => assigned - - - - | revoked - - - -"""),
    "who is asked to give a partition up commits what it read before": (
        Log(ALONE, (1_000, member("b"), epoch(3), target("b", "t0"), target("a"), done(3), waits("b", 3, previous=0)),
            (2_000, owns("a", 2, revoking="t0")), (4_000, commit("t0", 9)), (4_100, owns("a", 3, previous=2)),
            (4_300, owns("b", 3, "t0", previous=3)), (5_000, commit("t0", 10))), f"""
        moves {BOUNDS} => … | moved 200 200 3000
        owners member_id phase reader_certain_until_time reader_doubt_from_time =>
            a assigned 0 2000 | a revoking 2000 2000 | b assigned - -"""),
    "an owner reads until its last commit for certain": (Log(*EMPTIED), """
        owners member_id reader_certain_until_time reader_doubt_from_time => a 10000 10000"""),
    "who timed out sent its last heartbeat a session before": (gone(), f"""
        members leave_kind member_id=a => session_timeout_likely
        moves {BOUNDS} to_member_id=b tp=t0 => moved 2000 42000 52000"""),
    "a coordinator that took over in between counted anew": (gone({"epoch": 1}), f"""
        members leave_kind member_id=a => session_timeout_likely
        moves {BOUNDS} to_member_id=b tp=t0 => moved 2000 42000 57000"""),
    "a new partition was not unread before the snapshot without it, and costs no rebalance": (
        growing(GREW, seen=8_000), f"""
        moves {BOUNDS} unread_basis tp=t2 => assigned - 0 6000 not there yet in a snapshot; delivery 5.0 s assumed
        rebalances longest_unread_high_ms => - | -"""),
    "before the group had the topic nobody missed the partition": (
        Log(ALONE, GREW, topics={-2: {"t": 1}, -1: {"t": 3}}), f"""
        moves {BOUNDS} tp=t2 => assigned - 9000 14002"""),
    "what a group has from the first on is not new to it": (
        Log((0, member("a"), epoch(2), target("a", "t2"), done(2), owns("a", 2, "t2")), topics={-1: {"t": 1}}), f"""
        moves {BOUNDS} => assigned - - -"""),
    "what a classic group left is unread until the group is back as a consumer group": (
        Log(*CLASSIC_EMPTIED, (6_000, dead(), *ALONE[1:]), (7_000, commit("t0", 2))), f"""
        moves {BOUNDS} group_type =>
            assigned - - - classic | revoked - - - classic | assigned 990 990 2000 consumer"""),
    "and the other way round": (
        Log(*EMPTIED, (10_020, *(consumer.gone(each) for each in (6, 3)), created(10_020)),
            (12_000, value(1, "c: t0", state=11_900)), (12_200, commit("t0", 2))), f"""
        moves {BOUNDS} group_type=classic => assigned 1990 1990 2200"""),
    "a group that was deleted in between is another one": (
        Log(*EMPTIED, (10_020, *(consumer.gone(each) for each in (6, 3))), BACK), f"""
        moves {BOUNDS} => … | assigned - - -"""),
})  # fmt: skip

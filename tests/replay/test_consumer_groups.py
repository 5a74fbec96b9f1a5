"""What records of consumer groups show: every observation that the coordinator's state machine allows, with the records
that real brokers write for it; causes of rebalances, in words too; static members."""

from tests.make.coordinator import commit, consumer
from tests.make.history import test_of
from tests.make.log import Log

member, epoch, target, done, owns = consumer.member, consumer.epoch, consumer.target, consumer.done, consumer.owns
waits, left, pattern, topics = consumer.waits, consumer.left, consumer.pattern, consumer.topics
REST = (epoch(2), target("a", "t0 t1"), done(2), owns("a", 2, "t0 t1", previous=0))
ONE = ((0, member("a"), *REST),)
# `a` gives partition 1 up for `b`.
JOIN = (100, member("b"), epoch(3), target("a", "t0"), target("b", "t1"), done(3), waits("b", 3, previous=0))
TWO = (*ONE, JOIN, (200, owns("a", 2, "t0", revoking="t1")), (300, owns("a", 3, "t0", previous=2)),
       (450, owns("b", 3, "t1")))  # fmt: skip
STATIC = ((0, member("a", instance="one"), *REST),)
AWAY = (100, owns("a", -2, "t0 t1", previous=2))
# Under another id: what the old one had is copied, and then brought up to date.
RETURN = (300, left("a"), member("a2", instance="one"), target("a2", "t0 t1"), owns("a2", 0, "t0 t1", previous=0),
          owns("a2", 2, "t0 t1", previous=0))  # fmt: skip


def one(*entries):
    return Log(*ONE, *entries)


def two(*entries):
    return Log(*TWO, *entries)


def new_epoch(time, number, *more, hashed=7):
    return (time, *more, epoch(number, hashed), done(number), owns("a", number, "t0 t1", previous=number - 1))


LIVES = {
    "a first join makes the group stable at once": (one(), """
        states state generation_or_epoch from_time to_time => Stable 2 0 -
        members member_id joined_generation is_from_exact => a 2 yes
        owners tp phase from_record_offset generation_or_epoch => t0 assigned 4 2 | t1 assigned 4 2
        rebalances assignment_offset from_generation to_generation trigger outcome => 3 - 2 group_created completed"""),
    "before 4.3 the first epoch is 1, and the record of the first member begins its rebalance": (
        Log((5, member("a"), epoch(1), target("a", "t0 t1"), done(1), owns("a", 1, "t0 t1", previous=0)),
            release="4.2"), """
        rebalances assignment_offset to_generation trigger start_time is_start_exact evidence_first_offset confidence =>
            3 1 group_created 5 yes 0 certain"""),
    "before 4.3 the epoch is 0 until one is written": (
        Log((0, member("a"), owns("a", 0, previous=0)),
            (100, epoch(1), target("a", "t0"), done(1), owns("a", 1, "t0", previous=0)), release="3.9-new"), """
        states generation_or_epoch from_time state => 0 0 Stable | 1 100 Stable"""),
    "a second member waits until the first has given up its partition": (two(), """
        states state generation_or_epoch from_time to_time => Stable 2 0 100 | Reconciling 3 100 450 | Stable 3 450 -
        owners member_id phase from_time to_time ended_by tp=t1 =>
            a assigned 0 200 phase_changed | a revoking 200 300 revoked | b assigned 450 - -
        moves from_member_id to_member_id idle_ms assignment_offset kind=moved => a b 150 9
        rebalances trigger start_time end_time num_moved stopped_partition_ms outcome members_joined num_members_before
            num_members_after to_generation=3 => member_joined 100 450 1 150 completed b 1 2
        sets claimed_owned assigned revoked kept added lost dropped_before_join is_leader generation_or_epoch=3
            member_id=a => t0,t1 t0 t1 t0 . - - -"""),
    "an interval of an owner goes on when its member reaches a newer epoch": (two(), """
        owners member_id generation_or_epoch to_time tp=t0 => a 2 -"""),
    "targets that do not change are not written, and are carried forward": (
        two((500, member("c"), epoch(4), target("c"), done(4), owns("c", 4, previous=0))), """
        sets member_id change previous_assigned assigned generation_or_epoch=4 =>
            a kept t0 t0 | b kept t1 t1 | c joined . ."""),
    "a member that leaves is removed, and its partitions move with the next target": (
        two((600, left("a"), epoch(4)), (900, target("b", "t0 t1"), done(4), owns("b", 4, "t0 t1", previous=3))), """
        members leave_kind confidence left_generation to_time member_id=a => left certain 4 600
        owners ended_by to_time member_id=a phase=assigned tp=t0 => member_left 600
        states state generation_or_epoch from_time to_time state=Assigning => Assigning 4 600 900
        rebalances trigger members_departed start_time stopped_partition_ms to_generation=4 => member_left a 600 300
        moves kind idle_ms from_member_id assignment_offset=19 => moved 300 a
        sets member_id change assignment_offset=19 => a left | b kept"""),
    "a member that left when its rebalance timeout was over was probably removed for it": (
        one(JOIN, (1_000, owns("a", 2, "t0", revoking="t1")), (301_050, left("a"), epoch(4))), """
        members leave_kind confidence member_id=a => rebalance_timeout_likely likely"""),
    "the last member that leaves empties the group without a target": (
        one((500, left("a"), epoch(3, None))), """
        states state generation_or_epoch from_time to_time => … | Empty 3 500 -
        rebalances assignment_offset trigger from_generation to_generation num_unowned is_provisional num_members_after
            members_departed outcome=emptied => 8 group_emptied 2 3 2 no 0 a
        moves kind assignment_offset=8 => revoked | revoked"""),
    "newer coordinators write a target epoch for an emptied group too": (
        one((500, left("a"), epoch(3, None), done(3))),
            "rebalances assignment_offset outcome => 3 completed | 9 emptied"),
    "a deleted group has no open row": (one((500, left("a"), epoch(3, None)), (600, consumer.deleted())), """
        states state ended_by to_time => … | Empty deleted 600
        states state is_provisional=yes =>
        members member_id is_provisional=yes =>
        owners tp is_provisional=yes =>
        rebalances trigger is_provisional=yes =>
        anomalies kind =>"""),
    "a group that is made again starts anew": (
        one((500, left("a"), epoch(3, None)), (600, consumer.deleted()),
            (700, member("b"), epoch(2), target("b", "t0 t1"), done(2), owns("b", 2, "t0 t1", previous=0))), """
        rebalances from_generation trigger => … | - group_created
        moves kind idle_ms to_member_id=b => assigned - | assigned -
        anomalies kind =>"""),
    "epochs only rise": (two((500, epoch(2), done(1), owns("a", 1, "t0"))), """
        anomalies kind record_offset => epoch_went_back 14 | epoch_went_back 15 | epoch_went_back 16"""),
    "a partition has one owner": (one((100, member("b"), owns("b", 2, "t1", previous=0))), """
        anomalies kind severity => two_owners critical
        anomalies message => t-1 is assigned to b while a still has it
        owners member_id tp=t1 is_provisional=yes => a | b"""),
    "topics as the coordinator sees them are no assignment": (one((100, topics(t=4))), "owners tp => t0 | t1"),
    "two operations of one batch and time are one": (Log((0, ONE[0][1:], JOIN[1:])), """
        rebalances to_generation assignment_offset => 3 9"""),
    "a member that comes back within one operation keeps its intervals": (
        one((100, left("a"), member("a"), target("a", "t0 t1"), owns("a", 0, "t0 t1", previous=0), owns("a", 2,
            "t0 t1"))),
        """
        owners from_record_offset is_provisional => 4 yes | 4 yes
        members from_record_offset is_provisional => 4 yes"""),
    "a member without an epoch has not reached the target": (
        one((100, member("b"))), "states state => Stable | Reconciling"),
    "a group whose members never had a target is emptied too, but once": (
        Log((0, member("a"), epoch(2), owns("a", 1, previous=0)), (100, left("a"), epoch(3, None)),
            (200, epoch(4, None))), "rebalances outcome to_generation trigger => emptied 3 group_emptied"),
    "the epoch at which a group was emptied may get its target later": (
        one((100, left("a"), epoch(3, None)), (200, member("b", "", regex="o.*"), owns("b", 2, previous=0)),
            (300, target("b", "t0 t1"), done(3), owns("b", 3, "t0 t1", previous=2))), """
        rebalances from_generation to_generation assignment_offset members_joined => … | 2 3 8 . | 3 3 12 b
        sets member_id assignment_offset=12 => b
        rebalances trigger start_time assignment_offset=12 => member_joined 200"""),
    "a group epoch may wait for its target, and never get one": (
        one((100, member("b"), epoch(3), owns("b", 2, previous=0)), (200, member("c"), epoch(4), owns("c", 2,
            previous=0)),
            (1_000, target("a", "t0"), target("b", "t1"), target("c"), done(4), owns("c", 4, previous=2))), """
        states state generation_or_epoch from_time to_time =>
            Stable 2 0 100 | Assigning 3 100 200 | Assigning 4 200 1000 | Reconciling 4 1000 -
        rebalances from_generation start_time trigger members_joined unpersisted_rounds to_generation=4 =>
            2 100 member_joined b,c -
        anomalies kind =>"""),
    "a target without changes is a rebalance all the same": (
        two((500, epoch(4, 8), done(4), owns("a", 4, "t0", previous=3)), (600, owns("b", 4, "t1", previous=3))), """
        rebalances num_moved stopped_partition_ms end_time outcome to_generation=4 => 0 0 600 completed"""),
    "a newer target supersedes one that members have not reached": (
        one(JOIN, *TWO[2:4], (350, epoch(4, 8), target("b"), target("a", "t0 t1"), done(4), owns("b", 4, previous=3)),
            (400, owns("a", 4, "t0 t1", previous=3))), """
        rebalances to_generation outcome end_time num_unowned num_returned =>
            2 completed 0 0 0 | 3 superseded 350 1 0 | 4 completed 400 0 1
        moves kind assignment_offset idle_ms tp=t1 => assigned 3 - | revoked 9 - | returned 16 100"""),
    "a rebalance is open until every member has reached its target": (
        one(JOIN, (200, owns("a", 3, "t0", previous=2))), """
        rebalances outcome end_time duration_ms num_unowned is_provisional=yes => open - - 1
        moves kind is_provisional tp=t1 => assigned no | revoked yes"""),
    "a topic that is no longer subscribed is revoked and has no owner": (
        one((100, member("a", "u"), epoch(3), target("a"), done(3), owns("a", 2, revoking="t0 t1")),
            (200, owns("a", 3, previous=2))), """
        moves kind to_member_id is_provisional assignment_offset=8 => revoked - no | revoked - no
        rebalances num_unowned to_generation=3 => 2"""),
    "the assignor in force is the one that most members name": (
        Log((0, member("a", assignor="uniform"), epoch(2), done(2), owns("a", 2, previous=0)),
            (1, member("b", assignor="range"), member("c", assignor="range")), (2, left("b"), left("c"), epoch(3)),
            (3, member("a"))), "states assignor => uniform | range | uniform | -"),
    "a member may appear before the group's first epoch": (
        Log((0, member("a", "", regex="o.*"), owns("a", 1, previous=0))), """
        states state generation_or_epoch from_time to_time => Stable 1 0 -"""),
}  # fmt: skip
CAUSES = {
    "another subscription": (one(new_epoch(100, 3, member("a", "tu"))),
        "rebalances trigger => … | subscription_changed"),
    "a pattern": (one(new_epoch(100, 3, member("a", regex="o.*"))), "rebalances trigger => … | subscription_changed"),
    "another assignor": (one(new_epoch(100, 3, member("a", assignor="range"))), """
        rebalances trigger => … | assignor_changed"""),
    "another rebalance timeout is no cause": (one((100, member("a", timeout=1))), """
        rebalances trigger => group_created
        states state => Stable"""),
    "an epoch without a member's record is a change of topics": (
        one((100, epoch(3, 8), target("a", "t0 t1 t2"), done(3), owns("a", 3, "t0 t1 t2", previous=2))), """
        rebalances trigger trigger_detail => … | metadata_changed t 2 → 3 partitions assigned"""),
    "an epoch with the same hash and no member's record has no cause in the log, and the next one has": (
        one(new_epoch(100, 3), (200, member("b"), epoch(4), target("a", "t0"), target("b", "t1"), done(4),
                                waits("b", 4, previous=0))), """
        rebalances trigger confidence trigger_detail =>
            … | unknown possible - | member_joined certain member b (10.0.0.1) joined"""),
    "a pattern that matches other topics": (
        Log((0, member("a", "", regex="o.*"), owns("a", 1, previous=0)), (50, pattern("o.*", "t"), epoch(2)),
            (60, target("a", "t0"), done(2), owns("a", 2, "t0", previous=1)), (100, pattern("o.*", "tv"), epoch(3, 9)),
            (200, done(3), owns("a", 3, "t0", previous=2))), """
        rebalances trigger start_time => group_created 50 | regex_resolved 100
        sets subscribed_topics => t | t,v"""),
    "a pattern that matches a topic and no longer another one": (
        Log((0, member("a", "", regex="o.*"), owns("a", 1, previous=0)),
            (50, pattern("o.*", "t"), epoch(2), target("a", "t0"), done(2), owns("a", 2, "t0", previous=1)),
            (100, pattern("o.*", "u"), epoch(3, 9), done(3), owns("a", 3, "t0", previous=2))), """
        rebalances trigger trigger_detail =>
            … | regex_resolved pattern o.* now matches u; pattern o.* no longer matches t"""),
    "a pattern resolved again to the same topics in another order is no change": (
        one((50, pattern("o.*", "tv"), epoch(3)), (60, done(3), owns("a", 3, "t0 t1", previous=2)),
            (100, pattern("o.*", "vt")), (200, epoch(4, 8), done(4), owns("a", 4, "t0 t1", previous=3))), """
        rebalances trigger => group_created | regex_resolved | metadata_changed"""),
    "a member that joins by pattern alone causes the rebalance when the pattern is resolved": (
        one((100, member("b", "", regex="o.*"), owns("b", 2, previous=0)), (150, pattern("o.*", "t"), epoch(3)),
            (160, target("a", "t0"), target("b", "t1"), done(3))), """
        rebalances trigger members_joined to_generation=3 => member_joined b"""),
    "an epoch written again causes nothing": (
        one((100, epoch(2, 8)), (200, member("b"), epoch(3, 8), target("b"), done(3), owns("b", 3, previous=0))), """
        rebalances trigger start_time to_generation=3 => member_joined 200"""),
    "a second rebalance has a start and a cause of its own": (
        two((500, epoch(4, 8), done(4), owns("a", 4, "t0", previous=3))), """
        rebalances trigger start_time to_generation=4 => metadata_changed 500"""),
    "members of many epochs under one target are all named": (
        one((100, member("b"), epoch(3), owns("b", 2, previous=0)), (200, member("c"), epoch(4), owns("c", 2,
            previous=0)),
            (300, target("a", "t0"), target("b", "t1"), done(4), owns("c", 4, previous=2))), """
        rebalances trigger trigger_detail => group_created member a (10.0.0.1) joined
            | member_joined members b (10.0.0.1), c (10.0.0.1) joined"""),
    "a target of an older epoch leaves newer causes to the next one": (
        one((100, member("b"), epoch(3), owns("b", 2, previous=0)), (200, left("b"), epoch(4)),
            (300, target("a", "t0 t1"), done(3)), (400, target("a", "t0 t1"), done(4), owns("a", 4, "t0 t1",
             previous=2))),
        """
        rebalances trigger trigger_detail start_time confidence => …
            | member_joined member b (10.0.0.1) joined 100 certain
            | member_left member b (10.0.0.1) left 200 certain"""),
    "the assignor is the one that all members that name one name": (
        Log((0, member("a", assignor="uniform"), *REST),
            (100, member("b", assignor="range"), epoch(3), target("a", "t0"), target("b", "t1"), done(3),
             owns("a", 3, "t0", previous=2), owns("b", 3, "t1", previous=0)),
            (200, member("a", assignor="range"), epoch(4), done(4), owns("a", 4, "t0", previous=3),
             owns("b", 4, "t1", previous=3)),
            (300, member("a", assignor="uniform"), member("b", assignor="uniform"), epoch(5), done(5),
             owns("a", 5, "t0", previous=4), owns("b", 5, "t1", previous=4))), """
        rebalances assignor_before assignor_after trigger => - uniform group_created | uniform - member_joined
            | - range assignor_changed | range uniform assignor_changed
        rebalances trigger_detail to_generation=4 => member a (10.0.0.1) asks for assignor range
        rebalances trigger_detail to_generation=5 =>
            range → uniform; members a (10.0.0.1), b (10.0.0.1) asks for assignor uniform"""),
    "partitions are counted by the records that list topics": (
        Log((0, member("a"), topics(t=12), epoch(2), target("a", "t0"), done(2), owns("a", 2, "t0", previous=0)),
            (100, topics(t=24), epoch(3, None), done(3), owns("a", 3, "t0", previous=2)),
            (200, topics(), epoch(4, None), target("a"), done(4), owns("a", 4, previous=3))), """
        rebalances trigger trigger_detail => group_created member a (10.0.0.1) joined
            | metadata_changed t 12 → 24 partitions | metadata_changed topic t deleted"""),
    "a static restart is no cause of a later epoch": (
        Log(*STATIC, AWAY, RETURN, (400, epoch(3, 8), target("a2", "t0 t1 t2"), done(3),
                                    owns("a2", 3, "t0 t1 t2", previous=2))), """
        rebalances trigger trigger_detail => … | metadata_changed t 2 → 3 partitions assigned"""),
}  # fmt: skip
# A static member that asks for `uniform`, and returns asking for `range`: from 4.4 on that is an epoch.
UNIFORM = ((0, member("a", instance="one", assignor="uniform"), *REST), AWAY)
RANGE = (left("a"), member("a2", instance="one", assignor="uniform"), target("a2", "t0 t1"),
         owns("a2", 0, "t0 t1", previous=0), member("a2", instance="one", assignor="range"))  # fmt: skip
ASSIGNORS = {
    "a static member that returns with another assignor causes a rebalance by that, not by its return": (
        Log(*UNIFORM, (300, *RANGE, epoch(3), done(3), owns("a2", 3, "t0 t1", previous=0))), """
        rebalances trigger assignor_before assignor_after to_generation=3 => assignor_changed uniform range
        rebalances trigger_detail to_generation=3 => uniform → range; member a2 (instance one, 10.0.0.1) asks for
            assignor range; instance one restarted: a → a2
        sets member_id change generation_or_epoch=3 => a2 restarted
        members member_id leave_kind => a static_replaced | a2 -
        anomalies kind =>"""),
    "an epoch of other topics is not the returned member's assignor's": (
        Log(*UNIFORM, (300, *RANGE, epoch(3, 8), done(3), owns("a2", 3, "t0 t1", previous=0))), """
        rebalances trigger to_generation=3 => static_restart"""),
    "an assignor that caused no epoch causes none of other topics later": (
        Log(*UNIFORM, (300, *RANGE, owns("a2", 2, "t0 t1", previous=0)), (400, epoch(3, 8), done(3),
            owns("a2", 3, "t0 t1", previous=2))), """
        rebalances trigger assignor_after to_generation=3 => metadata_changed range"""),
}  # fmt: skip
SUBSCRIPTIONS = {
    "one more topic": (member("a"), member("a", "tu"), "subscribes to u too"),
    "another topic": (
        member("a"), member("a", "v"), "subscribes to v; member a (10.0.0.1) no longer subscribes to t"),
    "a pattern": (member("a"), member("a", regex="^ord.*"), "subscribes to pattern ^ord.*"),
    "no pattern": (member("a", regex="^ord.*"), member("a"), "no longer subscribes to pattern ^ord.*"),
}  # fmt: skip
STATICS = {
    "a static member that is away keeps its partitions": (Log(*STATIC, AWAY), """
        owners phase to_time tp=t0 => assigned 100 | held -
        members away_since_time is_provisional => 100 yes
        states state generation_or_epoch from_time to_time => … | Reconciling 2 100 -
        rebalances trigger => group_created"""),
    "a static return is neither a departure nor a rebalance, but ends unread time": (Log(*STATIC, AWAY, RETURN), """
        members member_id leave_kind to_time => a static_replaced 300 | a2 - -
        owners member_id phase ended_by tp=t0 => a assigned phase_changed | a held static_replaced | a2 assigned -
        rebalances trigger => group_created
        moves tp kind from_member_id idle_ms unread_low_ms unread_high_ms to_member_id=a2 =>
            t0 returned a - 200 5200 | t1 returned a - 200 5200
        anomalies kind =>"""),
    "a member that comes back under another id was in the assignment before": (
        Log(*STATIC, RETURN, (500, member("b"), epoch(3), target("a2", "t0"), target("b", "t1"), done(3),
                              waits("b", 3, previous=0))), """
        sets member_id change previous_assigned generation_or_epoch=3 => a2 kept t0,t1 | b joined .
        rebalances members_joined members_departed to_generation=3 => b ."""),
    "a static return with another subscription causes a rebalance": (
        Log(*STATIC, (300, *RETURN[1:-1], member("a2", "tu", instance="one"), epoch(3), target("a2", "t0"), done(3),
                      owns("a2", 2, "t0", revoking="t1", previous=0))), """
        rebalances trigger members_joined members_departed to_generation=3 => static_restart . .
        sets member_id change generation_or_epoch=3 => a2 restarted"""),
    "a static member that does not come back expires": (
        Log(*STATIC, AWAY, (45_100, left("a"), epoch(3, None))), """
        members leave_kind confidence away_since_time => static_expired_likely likely 100"""),
    "a member that was away and expired does not count as away any more": (
        Log(*STATIC, (100, member("b"), epoch(3), done(3), owns("b", 3, previous=0)),
            (200, owns("a", -2, "t0 t1", previous=2)), (300, left("a"), epoch(4)), (400, target("b", "t0 t1"),
             done(4))),
        "rebalances outcome to_generation=4 => open"),
    "a member is away since its first record of it": (
        Log(*STATIC, AWAY, (200, owns("a", -2, "t0", previous=-2))), "members away_since_time => 100"),
    "a member that is back is not away": (
        Log(*STATIC, AWAY, (200, owns("a", -2, "t0", previous=-2)), (300, owns("a", 2, "t0", previous=-2))),
        "members away_since_time => -"),
    "a static member that is away does not keep a rebalance open": (
        two((500, member("c", instance="one"), epoch(4), target("c"), done(4), owns("c", 4, previous=0)),
            (600, owns("a", 4, "t0", previous=3)), (700, owns("c", -2, previous=4)),
            (800, owns("b", 4, "t1", previous=3))), "rebalances outcome end_time to_generation=4 => completed 800"),
}  # fmt: skip


def gone(last_commit):
    """`a` commits until then, and leaves at 100 s; its partition goes to `b` from a second later on."""
    return Log(
        (0, member("a"), epoch(2), target("a", "t0"), done(2), owns("a", 2, "t0")),
        (1_000, member("b"), epoch(3), target("b", "t1"), done(3), owns("b", 3, "t1")), (last_commit, commit("t0", 5)),
        (100_000, left("a"), epoch(4)), (101_000, target("b", "t0 t1"), done(4)), (102_000, owns("b", 4, "t0 t1")),
        (103_000, commit("t0", 6)),
    )  # fmt: skip


COMMITS = {
    "a member whose commits stopped long before it left has timed out": (gone(50_000), """
        members leave_kind member_id=a => session_timeout_likely
        rebalances trigger_detail => … | member a (10.0.0.1) timed out
        moves unread_low_ms unread_high_ms commit_gap_ms => … | 42000 48000 53000
        rebalances unread_partition_low_ms unread_partition_high_ms longest_unread_high_ms => … | 42000 48000 48000"""),
    "a member whose commits went on left": (gone(99_000), """
        members leave_kind member_id=a => left
        rebalances trigger_detail => … | member a (10.0.0.1) left
        moves unread_low_ms unread_high_ms commit_gap_ms => … | 2000 4000 4000"""),
    "what moves cost adds up over the operations of a rebalance": (
        Log((0, member("a"), epoch(2), target("a", "t0 t1"), done(2), owns("a", 2, "t0 t1")),
            (10_000, commit("t0", 1), commit("t1", 1)),
            (20_000, member("b"), member("c"), epoch(3), target("a"), target("b", "t0"), target("c", "t1"), done(3),
             owns("b", 2, previous=0), owns("c", 2, previous=0)),
            (30_000, owns("a", 3, previous=2)), (31_000, owns("b", 3, "t0", previous=2)),
            (34_000, owns("c", 3, "t1", previous=2)), (35_000, commit("t0", 2), commit("t1", 2))), """
        moves unread_low_ms unread_high_ms kind=moved => 1000 25000 | 4000 25000
        rebalances unread_partition_low_ms unread_partition_high_ms longest_unread_high_ms => … | 5000 50000 25000"""),
    "an owner begins and ends at the committed offset": (gone(50_000), """
        owners member_id start_offset end_offset tp=t0 => a - 5 | b 5 -"""),
}  # fmt: skip
test_consumer_groups = test_of({
    **LIVES, **STATICS, **ASSIGNORS, **COMMITS,
    **{f"cause: {name}": case for name, case in CAUSES.items()},
    **{f"a member that subscribes otherwise is named with {name}": (
        Log((0, before, *REST), new_epoch(100, 3, now)),
        f"rebalances trigger trigger_detail => … | subscription_changed member a (10.0.0.1) {text}")
       for name, (before, now, text) in SUBSCRIPTIONS.items()},
    **{f"a member asked to revoke may leave for other reasons, {gone} ms later": (
        one((1_000, owns("a", 2, "t0", revoking="t1")), (1_000 + gone, left("a"), epoch(3))),
        "members leave_kind => left_or_timed_out") for gone in (60_000, 400_000)},
})  # fmt: skip

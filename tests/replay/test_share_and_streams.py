"""What records of share and streams groups show, with the records that a 4.3 broker writes."""

from tests.make.coordinator import commit, share, streams
from tests.make.history import test_of
from tests.make.log import Log

# The first topic must be initialized before it is assigned.
SHARED = (
    (0, share.member("a"), share.epoch(2), share.target("a"), share.done(2), share.owns("a", 2, previous=0),
     share.topics()),
    (100, share.topics(t=0)),
    (200, share.epoch(3), share.target("a", "t0 t1"), share.done(3), share.owns("a", 3, "t0 t1", previous=2)),
)  # fmt: skip
SHARED_TWO = (*SHARED[:1], (100, share.topics(t=2)), *SHARED[2:])
GROWN = (300, share.epoch(4, 8), share.done(4), share.owns("a", 4, "t0 t1", previous=3),
         share.topics(set_up="t2 t3 t4 t5", t=2))  # fmt: skip
BOTH = "0_0 1_0 / 1_1"
STREAMS = (
    (0, streams.member("a"), streams.topology(0, "t", "[w]"), streams.epoch(2), streams.owns("a", 1, previous=0)),
    (100, streams.target("a"), streams.done(2), streams.owns("a", 2, previous=1)),
    (200, streams.epoch(3, 9, validated_topology_epoch=0)),
    (300, streams.target("a", BOTH), streams.done(3), streams.owns("a", 3, BOTH, previous=2)),
)  # fmt: skip
FOURTH, FIFTH = (streams.epoch(each, 9, validated_topology_epoch=0) for each in (4, 5))


def configs(standby):
    return [{"key": "num.standby.replicas", "value": standby}]


# As a coordinator of 4.4 writes them: the copy of what the static member had, at epoch 0; then a new epoch, since the
# member runs in another process, under an unchanged target.
WITH_STATIC = (*STREAMS, (400, streams.member("b", instance="one"), FOURTH, streams.target("a", "0_0 1_0"),
                          streams.target("b", "/ 1_1"), streams.done(4), streams.owns("b", 4, "/ 1_1", previous=0)),
               (410, streams.owns("a", 4, "0_0 1_0", previous=3)))  # fmt: skip
STATIC_AWAY = (500, streams.owns("b", -2, "/ 1_1", previous=4))
STATIC_BACK = (600, streams.left("b"), streams.member("b2", instance="one"),
               streams.target("b2", "/ 1_1"), streams.owns("b2", 0, "/ 1_1", previous=0),
               streams.member("b2", instance="one"), FIFTH, streams.done(5),
               streams.owns("b2", 5, "/ 1_1", previous=0))  # fmt: skip


def described(stored=-1, failed=-1):
    """The epoch of `STREAMS` again, with what became of the description of its topology."""
    told = {"stored_description_topology_epoch": stored, "failed_description_topology_epoch": failed}
    return streams.epoch(3, 9, validated_topology_epoch=0, **told)


CASES = {
    "a static streams member that is away keeps its tasks": (Log(*WITH_STATIC, STATIC_AWAY), """
        owners phase role tp=w1 is_provisional=yes => held standby
        members away_since_time member_id=b => 500
        states state generation_or_epoch num_members is_provisional=yes => Reconciling 4 2
        rebalances trigger outcome to_generation=4 => member_joined completed
        anomalies kind =>"""),
    "a static streams member that comes back has its tasks, and its process is a new epoch": (
        Log(*WITH_STATIC, STATIC_AWAY, STATIC_BACK, (700, streams.owns("a", 5, "0_0 1_0", previous=4))), """
        members member_id leave_kind to_time group_instance_id=one => b static_replaced 600 | b2 - -
        owners member_id phase ended_by tp=w1 role=standby => …
            | b assigned phase_changed | b held static_replaced | b2 assigned -
        rebalances trigger members_joined members_departed num_moved to_generation=5 => static_restart . . 0
        sets member_id change generation_or_epoch=5 => a kept | b2 restarted
        states state generation_or_epoch is_provisional=yes => Stable 5
        anomalies kind =>"""),
    "a static streams member that does not come back expires": (
        Log(*WITH_STATIC, STATIC_AWAY, (45_500, streams.left("b"), FIFTH)), """
        members leave_kind confidence away_since_time member_id=b => static_expired_likely likely 500"""),
    # A coordinator of 4.2.0 does not load such a log (KAFKA-20254); nothing is wrong with it.
    "offsets of the classic application stay where the cleaner took the record of the group's end": (
        Log((0, commit("t0", 5)), *STREAMS), """
        states state group_type generation_or_epoch => Empty classic - | NotReady streams 2 | Assigning streams 3
            | Stable streams 3
        offsets tp committed_offset is_provisional => t0 5 yes
        rebalances trigger to_generation => group_created 2 | metadata_changed 3
        anomalies kind =>"""),
    "what becomes of a topology's description is no rebalance": (
        Log(*STREAMS, *((400 + 10 * at, described(*each)) for at, each in enumerate(
            [(-2,), (0,), (-2,), (-1,), (-1, 0)]))), """
        rebalances trigger to_generation => group_created 2 | metadata_changed 3
        states state generation_or_epoch is_provisional=yes => Stable 3
        anomalies kind =>"""),
    "a topic that is initialized causes a share group's rebalance": (Log(*SHARED), """
        rebalances trigger to_generation assignment_offset outcome =>
            group_created 2 3 completed | metadata_changed 3 9 completed"""),
    "a share group with members is stable, whatever its epochs": (
        Log(*SHARED, (300, share.member("b"), share.epoch(4), share.owns("b", 3, previous=0))), """
        states state generation_or_epoch from_time to_time group_type =>
            Stable 2 0 200 share | Stable 3 200 300 share | Stable 4 300 - share"""),
    "members of a share group may own one partition together": (
        Log(*SHARED, (300, share.member("b"), share.epoch(4), share.target("b", "t0"), share.done(4),
                      share.owns("b", 4, "t0", previous=0)), (400, share.owns("a", 4, "t1", previous=3))), """
        owners member_id from_time to_time tp=t0 => a 200 400 | b 300 -
        anomalies kind =>
        rebalances num_unowned stopped_partition_ms to_generation=4 => 0 0"""),
    "a share group that lost its members is empty": (
        Log(*SHARED, (500, share.left("a"), share.epoch(4, 0)), (600, share.topics()), (700, share.deleted())), """
        states state from_time ended_by => … | Empty 500 deleted
        rebalances outcome => … | emptied
        anomalies kind =>"""),
    "a second topic of a share group is owned beside the first": (
        Log(*SHARED, (300, share.owns("a", 3, "u0"))), "owners tp to_time => t0 300 | t1 300 | u0 -"),
    "a topic written again as initialized causes nothing": (
        Log(*SHARED, (300, share.topics(t=0)), (400, share.epoch(4), share.done(4))), """
        rebalances trigger => … | unknown"""),
    "a share group gets what was initialized under an epoch of the same hash": (
        Log((0, share.member("a"), share.epoch(2), share.done(2), share.owns("a", 2)),
            (100, share.topics(t=1), share.epoch(3), share.target("a", "t0"), share.done(3), share.owns("a", 3, "t0")),
            (200, share.topics(t=2)),
            (300, share.epoch(4), share.target("a", "t0 t1"), share.done(4), share.owns("a", 4, "t0 t1"))), """
        rebalances trigger trigger_detail => … | metadata_changed topic t share state initialized, 1 partition
            | metadata_changed t 1 → 2 partitions"""),
    "of a share group's topics only the initialized ones count": (
        Log((0, share.member("a"), share.epoch(2), share.done(2), share.owns("a", 2)),
            (100, share.topics(set_up="u0")), (200, share.epoch(3), share.done(3))),
        "rebalances trigger => … | unknown"),
    # Members are given new partitions later, so the target shows none of them.
    "a topic of a share group that grows is named by the record that begins its share state": (
        Log(*SHARED_TWO, GROWN, (400, share.topics(t=6)),
            (500, share.epoch(5, 8), share.target("a", "t0 t1 t2 t3 t4 t5"), share.done(5),
             share.owns("a", 5, "t0 t1 t2 t3 t4 t5", previous=4))), """
        rebalances trigger trigger_detail confidence => … |
            metadata_changed share state of partitions 2 to 5 of topic t is being set up certain |
            metadata_changed t 2 → 6 partitions certain"""),
    "a topic that is new to a share group is named too, and only once": (
        Log(*SHARED_TWO, (300, share.epoch(4, 8), share.done(4), share.owns("a", 4, "t0 t1", previous=3),
                          share.topics(set_up="u0", t=2)),
            (400, share.epoch(5, 9), share.done(5), share.owns("a", 5, "t0 t1", previous=4),
             share.topics(set_up="u0 v0 v2", t=2)),
            (500, share.epoch(6, 10), share.done(6), share.owns("a", 6, "t0 t1", previous=5),
             share.topics(set_up="u0 v0 v2", t=2))), """
        rebalances trigger_detail => … | share state of partition 0 of topic u is being set up
            | share state of partitions 0, 2 of topic v is being set up
            | the metadata hash changed, but no partition count: racks or ids of subscribed topics changed"""),
    "a share group's hash that changes alone is no partition": (
        Log(*SHARED_TWO, (300, share.epoch(4, 8), share.done(4), share.owns("a", 4, "t0 t1", previous=3))), """
        rebalances trigger_detail =>
            … | the metadata hash changed, but no partition count: racks or ids of subscribed topics changed"""),
    "a member's new topic is explained by the member": (
        Log(*SHARED_TWO, (300, share.member("b", "tu"), share.epoch(4, 8), share.target("b", "t1"), share.done(4),
                          share.owns("b", 4, "t1", previous=0), share.topics(set_up="u0", t=2))), """
        rebalances trigger trigger_detail => … | member_joined member b (10.0.0.1) joined"""),
    "share state that is being deleted is no partition that is set up": (
        Log(*SHARED_TWO, (300, share.topics(deleting="t")),
            (400, share.epoch(4, 8), share.target("a"), share.done(4), share.owns("a", 4, previous=3))), """
        rebalances trigger trigger_detail => … | metadata_changed topic t share state removed"""),
    "a streams group is not ready until its topology is valid": (Log(*STREAMS), """
        states state generation_or_epoch from_time to_time => NotReady 2 0 200 | Assigning 3 200 300
            | Stable 3 300 -"""),
    "a streams group that does not say whether its topology is valid may be stable": (
        Log((0, streams.member("a"), streams.topology(0, "t"), streams.epoch(1), streams.target("a", "0_0"),
             streams.done(1), streams.owns("a", 1, "0_0", previous=0)), (100, streams.epoch(2, 8))), """
        states state => Stable | Assigning"""),
    "tasks are the partitions of their subtopology's topics": (Log(*STREAMS), """
        owners tp role subtopology_id member_id => t0 active 0 a | w0 active 1 a | w1 standby 1 a
        sets assigned subscribed_topics generation_or_epoch=3 => t0,w0 -
        rebalances num_partitions trigger => 0 group_created | 2 metadata_changed"""),
    "a streams group's tasks go through revoking too": (
        Log(*STREAMS, (400, streams.member("b"), FOURTH, streams.target("b", "0_0"), streams.target("a", "1_0"),
                       streams.done(4), streams.waits("b", 4, previous=0)),
            (500, streams.owns("a", 3, "1_0", revoking="0_0")), (600, streams.owns("a", 4, "1_0", previous=3)),
            (700, streams.owns("b", 4, "0_0 / 1_1"))), """
        owners member_id phase from_time to_time tp=t0 => a assigned 300 500 | a revoking 500 600 | b assigned 700 -
        moves kind role idle_ms tp=t0 => … | moved active 100
        rebalances num_moved num_unowned stopped_partition_ms => … | 1 0 100"""),
    "another topology changes what tasks stand for": (
        Log(*STREAMS, (400, streams.topology(1, "u", "[w]"))), """
        owners tp to_time role=active => t0 400 | w0 - | u0 -
        states state => … | NotReady"""),
    "a subtopology reads its source and its repartition topics": (
        Log((0, streams.member("a"), streams.topology(0, "t [u]", "[w] v"), streams.epoch(2), streams.owns("a", 1,
            "0_1 1_0"))),
        "owners tp => t1 | u1 | v0 | w0"),
    "a deleted streams group's topology goes last": (
        Log(*STREAMS, (500, streams.left("a"), FOURTH), (600, streams.deleted())), """
        states state ended_by => … | Empty deleted
        states state is_provisional=yes =>
        members member_id is_provisional=yes =>
        owners tp is_provisional=yes =>
        anomalies kind =>"""),
    "standby tasks may be kept by several members": (
        Log(*STREAMS, (400, streams.member("b"), streams.owns("b", 3, "/ 1_1", previous=0))), """
        owners member_id role=standby is_provisional=yes => a | b
        anomalies kind =>"""),
    "settings of a streams group are a cause": (
        Log((0, streams.member("a"), streams.epoch(2, validated_topology_epoch=0, last_assignment_configs=configs("0")),
             streams.done(2)),
            (100, streams.epoch(3, validated_topology_epoch=0, last_assignment_configs=configs("1")),
             streams.done(3))), """
        rebalances trigger trigger_detail => … | assignor_changed num.standby.replicas 0 → 1"""),
    "tasks below 0 are left out and reported": (
        Log((0, streams.member("a"), streams.topology(0, "t"), streams.target("a", "5_-1 / 1_-3"),
             streams.owns("a", 1, "0_0 0_-2 6_-4"))), """
        owners tp => t0
        anomalies kind record_offset => negative_partition 2 | negative_partition 3
        anomalies message record_offset=2 => ignored negative partition numbers, which no topic has:
            active_tasks 5--1; standby_tasks 1--3"""),
}  # fmt: skip
test_share_and_streams = test_of(CASES)

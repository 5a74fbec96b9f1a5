"""The words of history tables: states, causes, endings, each with what it means."""

from schemas.words.enumerations import OF_GROUPS, TIMELINE, Meant


class Confidence(
    Meant,
    of=f"{OF_GROUPS}, offset_history, transactions, replay_anomalies, findings.confidence, "
    "membership_intervals.client_library_confidence, v_failovers.failure_case_confidence",
):
    CERTAIN = "certain: The records say so."
    LIKELY = "likely: The records fit this and hardly anything else."
    POSSIBLE = "possible: The records allow it; other explanations are as good."


class GroupState(Meant, of="group_state_intervals.state"):
    """As Kafka names them. A deleted group has no row."""

    EMPTY = "Empty: No members; the group may have offsets."
    PREPARING_REBALANCE = "PreparingRebalance: Classic: the coordinator waits for members to join."
    COMPLETING_REBALANCE = """CompletingRebalance: Classic: all members have joined, and the coordinator waits for the
        leader's assignment."""
    STABLE = "Stable: Every member has its assignment."
    ASSIGNING = "Assigning: The group epoch is ahead of the newest target assignment."
    RECONCILING = "Reconciling: One or more members have not reached their target yet."
    NOT_READY = "NotReady: Streams: the topology cannot run yet, because topics are missing."


class StateEnd(Meant, of="group_state_intervals.ended_by"):
    NEXT_STATE = "next_state: Another state, generation, epoch, assignor or number of members followed."
    DELETED = "deleted: The group was deleted."
    CONVERTED = "converted: The group continued as another type."
    COVERAGE_HOLE = "coverage_hole: Records after this point are missing, so the state is unknown."


class LeaveKind(Meant, of="membership_intervals.leave_kind, membership_intervals.ended_by"):
    LEFT = "left: Left or was removed: it had been a member, or silent, for too short a time for a timeout."
    LEFT_OR_TIMED_OUT = "left_or_timed_out: Left, timed out or was removed; the log does not show which."
    SESSION_TIMEOUT_LIKELY = """session_timeout_likely: The member's commits ended about one session timeout before its
        removal."""
    REBALANCE_TIMEOUT_LIKELY = """rebalance_timeout_likely: The member was asked to give up partitions, and was removed
        when its rebalance timeout ended."""
    STATIC_REPLACED = "static_replaced: Another member id took over its static instance."
    STATIC_EXPIRED_LIKELY = "static_expired_likely: The static instance did not come back within its session timeout."
    GROUP_DELETED = "group_deleted: The group was deleted while the member was in it."
    CONVERTED = "converted: The group continued as another type, without this member."
    COVERAGE_HOLE = "coverage_hole: Records after this point are missing, so the state is unknown."
    UNKNOWN = "unknown: Records from the time when the member left are missing."


TIMED_OUT = (LeaveKind.SESSION_TIMEOUT_LIKELY, LeaveKind.REBALANCE_TIMEOUT_LIKELY, LeaveKind.STATIC_EXPIRED_LIKELY)


class OwnershipPhase(Meant, of="ownership_intervals.phase"):
    ASSIGNED = "assigned: The member owns the partition."
    REVOKING = "revoking: The member was asked to give the partition up and still owns it."
    HELD = "held: The partition is kept for a static member that is away for a while."


class OwnershipEnd(Meant, of="ownership_intervals.ended_by"):
    REASSIGNED = "reassigned: Assigned to another member."
    REVOKED = "revoked: Revoked from the member, or given up for a rebalance."
    PHASE_CHANGED = "phase_changed: The same member continues in another phase."
    MEMBER_LEFT = "member_left: The member left the group."
    STATIC_REPLACED = "static_replaced: The static instance continues under another member id."
    GROUP_DELETED = "group_deleted: The group was deleted."
    CONVERTED = "converted: The group continued as another type; this ownership ended."
    COVERAGE_HOLE = "coverage_hole: Records after this point are missing, so the state is unknown."


class TaskRole(Meant, of="ownership_intervals, partition_moves.role"):
    ACTIVE = "active: The task processes records."
    STANDBY = "standby: The task keeps a copy of the state."
    WARMUP = "warmup: The task restores state to take over."


class RebalanceOutcome(Meant, of="rebalances.outcome"):
    COMPLETED = """completed: Classic: the coordinator wrote the assignment. Other types: every member reached the
        target."""
    SUPERSEDED = "superseded: A newer target replaced this one before every member had reached it."
    EMPTIED = "emptied: The group has no members any more."
    OPEN = "open: One or more members have not reached the target yet."


class RebalanceTrigger(Meant, of="rebalances.trigger"):
    MEMBER_JOINED = "member_joined: Members joined."
    MEMBER_LEFT = "member_left: Members left, timed out or were removed."
    STATIC_RESTART = "static_restart: A static member returned under another member id, and a rebalance followed."
    SUBSCRIPTION_CHANGED = "subscription_changed: A member subscribed to other topics."
    REGEX_RESOLVED = "regex_resolved: A subscribed pattern matched other topics."
    METADATA_CHANGED = """metadata_changed: Subscribed topics were created or deleted, got more partitions, or their
        racks changed."""
    ASSIGNOR_CHANGED = "assignor_changed: Another assignor, or other settings of the same one."
    LEADER_REJOINED = "leader_rejoined: Same members, same subscriptions: the leader or another member rejoined."
    PROTOCOL_MIGRATION = "protocol_migration: The group changed to another protocol."
    COORDINATOR_FAILOVER = """coordinator_failover: Another broker became the coordinator, and the generation did not
        rise: an earlier rebalance was probably lost."""
    GROUP_CREATED = "group_created: The first assignment of the group."
    GROUP_EMPTIED = "group_emptied: The last members left, timed out or were removed."
    UNKNOWN = "unknown: Records are missing, or do not show what changed."


class TimelineKind(Meant, of=f"{TIMELINE}.kind"):
    """Of events in a group's life, as `rebalances` and `why` list them."""

    REBALANCE = "rebalance: A completed generation or a target epoch."
    STATIC_RESTART = "static_restart: A static instance restarted under another member id, without a rebalance."
    CONVERSION = "conversion: The group continued as a group of another type."
    DELETION = "deletion: The group was deleted, or lost its last committed offset."
    COORDINATOR_FAILOVER = "coordinator_failover: A new leader of the group's offsets partition wrote its first record."
    SILENCE = "silence: Since then there is no commit, although messages wait: by the newest verdict, it still lasts."
    MARK = "mark: Somebody deployed or changed something (groupscope mark), and events followed within ten minutes."


class FailureCase(Meant, of="v_failovers.failure_case"):
    """What groups were doing when their coordinator failed, from the least harm to the most."""

    STABLE = """stable: Between two rebalances: each group of the offsets partition committed to the new coordinator
        before it rebalanced, or had no members. The log had all that the new coordinator needed, so members went on."""
    JOINING = """joining: A group waited for its members to join (PreparingRebalance). No record keeps that, so they had
        to join again."""
    AWAITING_SYNC = """awaiting_sync: A group was getting a generation, or had just got it (CompletingRebalance): its
        record was overwritten, and no commit follows it. The number of the generation may be used again."""
    AFTER_SYNC = """after_sync: Members had worked by a generation that was overwritten: they committed after it. The
        new coordinator knows neither that generation nor its members, who must join again."""


class RebalanceMode(Meant, of="rebalances.mode"):
    EAGER = "eager: Every member gave up all its partitions before it joined."
    COOPERATIVE = "cooperative: Members kept what they owned; partitions that moved were withheld for one rebalance."
    INCREMENTAL = "incremental: Each member moves to its target by itself (consumer, share and streams groups)."


class StormKind(Meant, of="v_rebalance_storms.kind"):
    """Of many rebalances, each soon after the one before."""

    STORM = """storm: A client left and came back again and again: more than twice for each member that it had at once.
        Or the group rebalanced again and again although no member joined or left."""
    ROLLING_RESTART = """rolling_restart: Members joined or left, and each client that came back did so up to twice: a
        deployment, or a change of the number of members."""
    ROLLING_UPGRADE = """rolling_upgrade: The same, and the protocol or the assignor of the group changed: a migration
        to another one."""


class MemberChange(Meant, of="generation_members.change"):
    JOINED = "joined: The member is not in the previous assignment."
    KEPT = "kept: The member is in the previous assignment and in this one."
    LEFT = "left: The member is in the previous assignment, but not in this one."
    RESTARTED = "restarted: The static member came back under another member id."


class MoveKind(Meant, of="partition_moves.kind"):
    MOVED = "moved: The partition went from one member to another."
    ASSIGNED = "assigned: The partition was assigned to a member; it had no owner before."
    REVOKED = "revoked: The partition was taken from its owner and has no owner now."
    LOST = "lost: The owner lost its place in the group and rejoined with generation -1 and no claim."
    WITHHELD = """withheld: A member claims the partition, and it is assigned to no member, so that it can move in the
        next rebalance."""
    READY_TO_MIGRATE = """ready_to_migrate: No member claims the partition, so it is assigned at once (KIP-429); a
        member had it before."""
    UNKNOWN_OWNED = "unknown_owned: A member claims the partition, but the leader did not know its topic."
    RETURNED = "returned: The partition was revoked and reassigned to the same member."


class CommitVia(Meant, of="offset_history.via"):
    PLAIN = "plain: By an offset commit."
    TRANSACTION = "transaction: By a transaction that was committed."


class OffsetEnd(Meant, of="offset_history.ended_by"):
    COMMIT = "commit: Another commit followed."
    EXPIRED = "expired: Deleted when its retention time had passed."
    DELETED = "deleted: Deleted by an administrator, by itself or with its group."
    TOPIC_DELETED = "topic_deleted: Deleted with its topic."
    TOPIC_RECREATED = "topic_recreated: The next commit is for another topic of the same name."
    TOMBSTONE_UNKNOWN = "tombstone_unknown: Deleted; the records do not show why."
    RELOADED = "reloaded: Another release, with other rules, took over and loaded the log."
    COVERAGE_HOLE = "coverage_hole: Records after this point are missing, so the state is unknown."


class TransactionOutcome(Meant, of="transactions.outcome"):
    COMMITTED = "committed: Its marker was COMMIT."
    ABORTED = "aborted: Its marker was ABORT."
    OPEN = "open: No marker yet."


class TopicSource(Meant, of="topics.source"):
    SNAPSHOT = "snapshot: A snapshot has the name and the id."
    COMMIT = "commit: A commit has the name and the id."
    RECORD = "record: A record of a group's topics has the name and the id."
    METADATA_HASH = "metadata_hash: The hash of the group's topics fits only if the id has this name."
    SINGLE_SUBSCRIPTION = """single_subscription: All owners of the id subscribe to only one topic whose name has no id
        yet."""
    PARTITION_COUNTS = """partition_counts: Of the names that its owners subscribe to, only this one fits the number of
        its partitions."""


class Severity(Meant, of="replay_anomalies, gate_results, findings.severity"):
    CRITICAL = "critical: Answers may be wrong, or a group does not work: look at it."
    WARNING = "warning: Unusual; answers are still valid."
    INFO = "info: Worth knowing."


class AnomalyKind(Meant, of="replay_anomalies.kind"):
    CLOCK_WENT_BACK = "clock_went_back: A record's time is more than a second before that of an earlier record."
    TWO_OWNERS = "two_owners: Two members of a group own one partition."
    GENERATION_WENT_BACK = "generation_went_back: A generation is lower than the one before it."
    EPOCH_WENT_BACK = "epoch_went_back: A group, target or member epoch is lower than the one before it."
    IMPOSSIBLE_ORDER = "impossible_order: A record that the coordinator would refuse in this order."
    GROUP_IN_WRONG_PARTITION = """group_in_wrong_partition: The group's name belongs to another offsets partition, or
        its records are in several."""
    TARGET_WRITE_INCOMPLETE = """target_write_incomplete: Targets of members without the record of their epoch (type 6,
        12 or 20)."""
    DUPLICATE_INSTANCE = "duplicate_instance: Two members of one generation have the same static instance id."
    DUPLICATE_MEMBER = """duplicate_member: A member id appears twice in one generation: its last entry counts, as it
        does for the coordinator."""
    NEGATIVE_PARTITION = "negative_partition: A member claims or has a partition number below 0, which is ignored."
    TYPE_CONFLICT = "type_conflict: A record of one type of group for a group of another."
    UNREADABLE_RECORD = "unreadable_record: A record of this group could not be decoded; the rest was replayed."
    FOREIGN_PAYLOAD = "foreign_payload: A subscription or assignment of protocol type consumer that cannot be read."
    PENDING_OUTLIVED_DELETION = """pending_outlived_deletion: An offset was deleted while a transaction had a commit of
        it pending, and the transaction committed later. Kafka's brokers write this, also those of 4.x: the offset stays
        deleted."""
    OLDER_RULE = "older_rule: Coordinators of other releases read these records differently."

"""Lists the groups of a live cluster and the topics they commit offsets for. Each broker answers for the groups it
coordinates."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

from jobs.broker.cluster import KafkaCluster
from jobs.broker.errors import ConnectionLost, error_name
from jobs.broker.share_messages import messages
from udfs.sources.snapshot_fields import quote_value

Notify = Callable[[str], None]

# A response has every committed offset of its groups.
GROUPS_A_REQUEST = 100
DESCRIBE = 8  # of the operations that ACLs allow
# Limit of names in one message.
FEW = 3

NO_ERROR, FORBIDDEN, ABSENT = 0, 30, 69
# Types of groups that may have settings of their own.
WITH_SETTINGS = frozenset({"consumer", "share", "streams"})
# A coordinator that is loading its groups, or has just lost them to another broker.
MOVING = frozenset({14, 15, 16})


class Moving(Exception):
    """Why the coordinator of a group does not answer at the moment."""


@dataclass
class GroupTopics:
    topics: set[str] = field(default_factory=set)
    # Groups that may have settings of their own.
    with_settings: set[str] = field(default_factory=set)
    # Groups whose commits are unknown, by reason.
    left_out: dict[str, list[str]] = field(default_factory=dict)

    def leave_out(self, why: str, groups: Sequence[str]) -> None:
        self.left_out.setdefault(why, []).extend(groups)


def group_topics(cluster: KafkaCluster, notify: Notify) -> GroupTopics:
    """All groups of every kind. Reports what ACLs hide."""
    patience = cluster.patience()
    while True:
        listing = GroupTopics()
        try:
            for node in cluster.nodes():
                read_node(cluster, node.id, listing)
            is_all = may_list_all(cluster)
        except (ConnectionLost, Moving) as error:
            patience.wait(f"groups: {error}")
            # Another broker may have become the coordinator.
            cluster.topics([])
        else:
            break
    if not is_all:
        notify("groups without DESCRIBE permission of the Kafka user are left out; DESCRIBE on the cluster permits all")
    for why, groups in listing.left_out.items():
        notify(f"offsets of {some('group', groups)} are left out: {why}")
    return listing


def some(what: str, names: Collection[str]) -> str:
    """The number, and the first names, even if these are hostile."""
    first = ", ".join(quote_value(name) for name in sorted(names)[:FEW])
    return f"{len(names):,} {what}{'s' * (len(names) > 1)} ({first}{', …' * (len(names) > FEW)})"


def may_list_all(cluster: KafkaCluster) -> bool:
    """Without this permission, brokers leave groups out and report no error."""
    from kafka.errors import IncompatibleBrokerVersion
    from kafka.protocol.admin import DescribeClusterRequest

    try:
        answer = cluster.ask_once(DescribeClusterRequest(include_cluster_authorized_operations=True))
    except IncompatibleBrokerVersion:
        return True
    return answer.authorized_operations is None or DESCRIBE in answer.authorized_operations


def read_node(cluster: KafkaCluster, node: int, listing: GroupTopics) -> None:
    from kafka.protocol.admin import ListGroupsRequest

    answer = cluster.ask_once(ListGroupsRequest(), node)
    is_there(answer.error_code)
    of_share = [each.group_id for each in answer.groups if each.group_type == "share"]
    listing.with_settings.update(each.group_id for each in answer.groups if each.group_type in WITH_SETTINGS)
    others = [each.group_id for each in answer.groups if each.group_type != "share"]
    for part in parts(others):
        for group, code, topics in group_answers(cluster, node, part):
            add(listing, group, code, topics)
    for part in parts(of_share):
        for group, code, topics in share_read(cluster, node, part, listing):
            add(listing, group, code, topics)


def parts(groups: Sequence[str]) -> Iterator[Sequence[str]]:
    return (groups[start : start + GROUPS_A_REQUEST] for start in range(0, len(groups), GROUPS_A_REQUEST))


def is_there(code: int) -> None:
    if code in MOVING:
        raise Moving(error_name(code))


def add(listing: GroupTopics, group: str, code: int, topics: Sequence[str]) -> None:
    is_there(code)
    if code == FORBIDDEN:
        listing.leave_out("the Kafka user has no DESCRIBE permission on these groups", [group])
    elif code not in {NO_ERROR, ABSENT}:
        listing.leave_out(error_name(code), [group])
    listing.topics.update(topics)


GroupAnswer = tuple[str, int, list[str]]


def group_answers(cluster: KafkaCluster, node: int, groups: Sequence[str]) -> Iterator[GroupAnswer]:
    """Every group with its error and topics."""
    from kafka.errors import IncompatibleBrokerVersion
    from kafka.protocol.consumer import OffsetFetchRequest

    asked = [OffsetFetchRequest.OffsetFetchRequestGroup(group_id=group, topics=None) for group in groups]
    try:
        # From version 10 on, topics have ids and no names.
        answer = cluster.ask_once(OffsetFetchRequest(groups=asked, min_version=8, max_version=9), node)
    except IncompatibleBrokerVersion:
        yield from committed_one_by_one(cluster, node, groups)
    else:
        for each in answer.groups:
            yield each.group_id, each.error_code, [topic.name for topic in each.topics]


def committed_one_by_one(cluster: KafkaCluster, node: int, groups: Sequence[str]) -> Iterator[GroupAnswer]:
    """Brokers before 3.0 need one request per group."""
    from kafka.protocol.consumer import OffsetFetchRequest

    for group in groups:
        answer = cluster.ask_once(OffsetFetchRequest(group_id=group, topics=None, min_version=2, max_version=7), node)
        yield group, answer.error_code, [topic.name for topic in answer.topics]


def share_read(cluster: KafkaCluster, node: int, groups: Sequence[str], listing: GroupTopics) -> Iterator[GroupAnswer]:
    """Share groups do not commit; what they have read is in their own state."""
    from kafka.errors import IncompatibleBrokerVersion

    request, _ = messages()
    try:
        answer = cluster.ask_once(
            request(groups=[request.Asked(group_id=group, topics=None) for group in groups]), node
        )
    except IncompatibleBrokerVersion:
        listing.leave_out("the broker is too old to return the offsets of share groups", groups)
        return
    for each in answer.groups:
        yield each.group_id, each.error_code, [topic.topic_name for topic in each.topics]

"""librdkafka's range and roundrobin. They give what Kafka's give, except that groups with static and other members are
sorted in another way, and that `range` lists topics in another order."""

from itertools import cycle

from udfs.assignors.librdkafka.groups import Group, Lists, in_order


def ranges(group: Group) -> Lists:
    """Since 2.2.0, topics that are divided in the same way are listed together; before, in the broker's order."""
    audiences = {name: in_order(members) for name, members in group.audiences.items()}
    topics = list(audiences)
    if group.rules.has_generations:
        topics.sort(key=lambda name: ([each.member_id for each in audiences[name]], group.counts[name]))
    written: Lists = {member.member_id: [] for member in group.members}
    for name in topics:
        size, num_larger = divmod(group.counts[name], len(audiences[name]))
        first = 0
        for at, member in enumerate(audiences[name]):
            end = first + size + (at < num_larger)
            written[member.member_id] += [(name, number) for number in range(first, end)]
            first = end
    return written


def in_circles(group: Group) -> Lists:
    """Topics by name; members that do not subscribe to the topic are passed over."""
    written: Lists = {member.member_id: [] for member in group.members}
    members = cycle(in_order(group.members))
    for name in sorted(group.audiences):
        takes = {member.member_id for member in group.audiences[name]}
        for number in range(group.counts[name]):
            member = next(each for each in members if each.member_id in takes)
            written[member.member_id].append((name, number))
    return written

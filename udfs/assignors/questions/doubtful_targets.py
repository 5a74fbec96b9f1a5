"""Targets that no coordinator writes and that make Kafka's assignor fail."""

from udfs.assignors.questions.specs import GroupProtocol, Spec


def doubtful_target(spec: Spec) -> str | None:
    """The field of the first such target, and what is wrong with it. Members of share groups share partitions."""
    counts = {topic.name: topic.partitions for topic in spec.topics}
    owners: dict[tuple[str, int], int] = {}
    for number, member in enumerate(spec.members):
        for topic, partitions in member.target:
            for partition in partitions:
                owner = owners.setdefault((topic, partition), number)
                if owner != number and spec.group_protocol == GroupProtocol.CONSUMER:
                    return f"members[{number}].target: {topic}-{partition} is in members[{owner}].target too"
                # A topic that is gone has a count of 0.
                if 0 < counts[topic] <= partition:
                    return f"members[{number}].target: {topic} has {counts[topic]} partitions, and no {partition}"
    return None

"""Recorded targets of groups whose subscriptions are unknown."""

from collections.abc import Iterator

import numpy as np

from schemas.words.history import TaskRole
from udfs.assignors.groups import Rows
from udfs.audit.checks.assignments import RecordedAssignment
from udfs.audit.checks.facts import UNKNOWN
from udfs.audit.modern.group import ModernGroup
from udfs.groups.readers.recorded_lists import ByRole, Tasks, partitions_of
from udfs.topics.partition_codes import TopicCodes


def recorded_targets(group: ModernGroup, codes: TopicCodes) -> RecordedAssignment:
    """Targets by member, if neither the subscriptions nor the numbers of partitions are known."""
    numbers: dict[str, int] = {}
    rows = []
    for place, target in enumerate(group.targets.values()):
        for topic, partition in pairs(target, codes):
            rows.append((place, numbers.setdefault(topic, len(numbers)), partition))
    columns = np.array(rows, np.int32).reshape(-1, 3).T
    return RecordedAssignment(
        members=tuple(group.targets),
        topics=tuple(numbers),
        counts=np.full(len(numbers), UNKNOWN, np.int64),
        class_of_member=np.zeros(len(group.targets), np.int32),
        topics_of_class=[np.arange(len(numbers), dtype=np.int32)],
        rows=Rows(columns[0], columns[1], columns[2]),
    )


def pairs(target: ByRole, codes: TopicCodes) -> Iterator[tuple[str, int]]:
    """Active tasks by subtopology."""
    tasks = target.get(TaskRole.ACTIVE)
    if isinstance(tasks, Tasks):
        yield from tasks.listed
        return
    own = partitions_of(target)
    for code, partition in zip(own.topics.tolist(), own.partitions.tolist(), strict=True):
        name, topic_id = codes.topics[code]
        yield name or str(topic_id), partition

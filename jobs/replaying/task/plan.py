"""Assigns offsets partitions, or slices of them, to tasks."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from jobs.engine.task import PlanRow, TaskSpec
from jobs.replaying.log.opened import Opened, pieces
from jobs.replaying.log.row_groups import LogFile, Wanted
from jobs.replaying.task.messages import PartitionSlice, RunInput

# More groups than this at once would take gigabytes of memory in a worker. Every group has at least one record.
MOST_GROUP_RECORDS = 100_000
Given = tuple[RunInput[Any], Sequence[PartitionSlice]]
# More tasks than workers: a worker that finishes early takes another task.
TASKS_PER_WORKER = 3


def rows_by_partition(
    files: Mapping[str, Sequence[LogFile]],
    cluster: str,
    partitions: Collection[int],
    after_run: Mapping[int, str],
    opened: Opened,
) -> dict[int, int]:
    """Approximate number of rows of later runs. 0 only if there are none."""
    numbers = dict.fromkeys(partitions, 0)
    for partition in partitions:
        wanted = Wanted(cluster, partition, after_run.get(partition))
        row_groups = (piece for some in files.values() for piece in pieces(some, wanted, opened))
        numbers[partition] = sum(opened.num_rows(piece, wanted) for piece in row_groups)
    return numbers


def slices_of(sizes: Mapping[int, int], group_records: Mapping[int, int], num_parts: int) -> list[PartitionSlice]:
    """Offsets partitions. A partition is cut into slices if it has too many groups, or is much more than one of so many
    equal parts of all the work: other workers would wait for it."""
    slices = []
    for partition, size in sorted(sizes.items()):
        for_memory = -(-group_records[partition] // MOST_GROUP_RECORDS)
        for_workers = round(size * num_parts / max(sum(sizes.values()), 1))
        number = max(1, for_memory, for_workers)
        slices += [PartitionSlice(partition, each, number) for each in range(number)]
    return slices


def slices_of_tasks(
    slices: Sequence[PartitionSlice], sizes: Mapping[int, int], num_tasks: int
) -> list[list[PartitionSlice]]:
    """Groups neighboring partitions into tasks, so that a file has few partitions. Each slice is read separately."""
    limit = max(1, -(-sum(sizes.values()) // max(num_tasks, 1)))
    together: list[list[PartitionSlice]] = []
    held = limit
    for each in slices:
        size = sizes[each.partition] // each.num_slices
        if not together or held + size > limit:
            together.append([])
            held = 0
        together[-1].append(each)
        held += size
    return together


def input_of_task(run_input: RunInput[Any], slices: Sequence[PartitionSlice]) -> RunInput[Any]:
    """What the task for these slices needs to know."""
    partitions = {each.partition for each in slices}

    def overlapping(files: Mapping[str, Sequence[LogFile]]) -> dict[str, list[LogFile]]:
        by_table = defaultdict(list)
        for name, some in files.items():
            by_table[name] = [
                file
                for file in some
                if any(file.first_partition <= partition <= file.last_partition for partition in partitions)
            ]
        return dict(by_table)

    return replace(
        run_input,
        files=overlapping(run_input.files),
        held=overlapping(run_input.held),
        **run_input.of_partitions(partitions),
    )


def task_spec(run_input: RunInput[Any], slices: Sequence[PartitionSlice], sizes: Mapping[int, int]) -> TaskSpec[Given]:
    return TaskSpec(
        (input_of_task(run_input, slices), slices), tuple(plan_row(each, sizes[each.partition]) for each in slices)
    )


def plan_row(of: PartitionSlice, num_records: int) -> PlanRow:
    return PlanRow(of.partition, of.number, num_records=num_records // of.num_slices)

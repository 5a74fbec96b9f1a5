"""Shows the partition of __consumer_offsets that has the records of a group, its coordinator, and until when the
partition was read.

    groupscope partition billing

All records of a group are in one partition: Kafka takes the absolute value of the group id's hash code, modulo the
number of partitions. So this also answers for a group that the warehouse has never seen. The number of partitions and
the coordinator are not in the log: they come from snapshots. Reads `history_coverage`, `source_files`,
`group_state_intervals`, `coordinator_epochs` and `cluster_snapshots`.
"""

import argparse
from collections.abc import Iterator, Mapping
from datetime import UTC
from typing import Any

import pyarrow.compute as pc

from jobs.answers.history import History, open_history, print_first_line
from jobs.answers.missing_records import unseen_of
from jobs.answers.snapshots import coordinator, newest_cluster
from jobs.answers.table_reader import Condition, equal
from jobs.output.rows import LABEL_WIDTH, Format, print_facts, print_object, time_text
from jobs.output.zones import ZONES
from schemas.words.records import OFFSETS_TOPIC, NumPartitionsSource, PartitionReading, SourceKind
from udfs.groups.group_partition import partition_for
from udfs.groups.num_partitions import DEFAULT_NUMBER
from udfs.sentences.counts import counted
from udfs.sentences.name_lists import list_names
from udfs.sentences.partitions_read import KNOWN

# Of ranges without records, and of partitions.
MOST_SHOWN = 5
CAPTURE = "groupscope capture takes a snapshot"
NO_LEADER = f"unknown: no snapshot has the leader of the partition; {CAPTURE}"
UNKNOWN = f"the number of partitions of {OFFSETS_TOPIC} is unknown"
NO_NUMBER = f"{UNKNOWN}, since no snapshot has it and groups do not show it; {CAPTURE}"


def run(arguments: argparse.Namespace) -> None:
    history = open_history(arguments)
    answer = answer_of(history, arguments.group)
    if ZONES.printed is not UTC and (newest := history.newest_time()) is not None:
        print_first_line("As of", time_text(newest), arguments.format, LABEL_WIDTH)
    if arguments.format == Format.TABLE:
        print_facts(facts(history, answer))
    else:
        print_object(answer, arguments.format)


def answer_of(history: History, group: str) -> dict[str, Any]:
    number = history.offsets_partitions.number
    seen = partitions_of(history, group)
    own = None if number is None else partition_for(group, number)
    partition = history.coordinators.newest(group) if own is None and seen else own
    return {
        "group_id": group,
        "offsets_partition": partition,
        "num_offsets_partitions": number,
        "num_offsets_partitions_source": history.offsets_partitions.source,
        "unknown_reason": NO_NUMBER if partition is None else None,
        "has_records": partition in seen,
        "other_partitions": [each for each in seen if each != partition],
        **coordinator_of(history, partition),
        **read_of(history, partition),
    }


def partitions_of(history: History, group: str) -> list[int]:
    """Those with records of the group: several, if the number of partitions was changed."""
    conditions = equal("cluster", history.cluster), equal("group_id", group)
    states = history.reader.arrow("group_state_intervals", ["evidence_partition"], *conditions)
    return sorted(pc.unique(states.column(0)).to_pylist())


def coordinator_of(history: History, partition: int | None) -> dict[str, Any]:
    newest = history.newest_time()
    snapshot = None if newest is None else newest_cluster(history, newest, "offsets_partitions")
    name = None if newest is None or partition is None else coordinator(history, partition, newest)
    epochs = history.rows("coordinator_epochs", equal("offsets_partition", partition)) if partition is not None else []
    epoch = max(epochs, key=lambda row: int(row["partition_leader_epoch"]), default=None)
    return {
        "coordinator": name,
        "coordinator_as_of_time": snapshot["captured_time"] if snapshot is not None and name is not None else None,
        "leader_epoch": None if epoch is None else epoch["partition_leader_epoch"],
        "leader_epoch_time": None if epoch is None else epoch["from_time"],
    }


def read_of(history: History, partition: int | None) -> dict[str, Any]:
    covered = [] if partition is None else history.coverage(partition)
    times = [row["to_time"] for row in covered if row["to_time"] is not None]
    sources = sources_of(history, partition) if covered else []
    return {
        "is_read": bool(covered),
        "first_record_offset": min((row["first_offset"] for row in covered), default=None),
        "last_record_offset": max((row["last_offset"] for row in covered), default=None),
        "last_record_time": max(times, default=None),
        "num_records": sum(row["num_records"] for row in covered),
        "missing": [
            {"after_offset": each.after_offset, "from_time": each.from_time, "to_time": each.to_time}
            for each in unseen_of(covered)
        ],
        "num_sources": len(set(sources)),
        "newest_source": sources[-1] if sources else None,
    }


def sources_of(history: History, partition: int | None) -> list[str]:
    """In the order of what was read; of a live log, what was fetched at once. An archive may have any partition."""
    columns = ["run_id", "source_file", "kind", "last_offset", "offsets_partition", "skipped_reason"]
    rows = history.rows("source_files", Condition("offsets_partition", "=", partition, or_null=True), columns=columns)
    read = [row for row in rows if row["skipped_reason"] is None]
    own = [row for row in read if row["offsets_partition"] is not None or row["kind"] == SourceKind.RECORDS]
    return [row["source_file"] for row in sorted(own, key=lambda row: (row["last_offset"] or 0, row["run_id"]))]


def facts(history: History, answer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Labels and texts."""
    group, partition, number = (answer[name] for name in ("group_id", "offsets_partition", "num_offsets_partitions"))
    others = ", ".join(map(str, answer["other_partitions"]))
    if partition is None:
        yield "Group", f"{group}: the warehouse has no record of it"
        by_default = f"with Kafka's default of {DEFAULT_NUMBER} it would be {partition_for(group, DEFAULT_NUMBER)}"
        yield "Partition", f"unknown: {answer['unknown_reason']}; {by_default}"
        return
    absent = f"the warehouse has no record of it; its records would be in partition {partition}"
    here = "has no record in this partition" if others else absent
    yield "Group", f"{group}: {'has records in this partition' if answer['has_records'] else here}"
    if others:
        unread = "" if number is None else ", which its coordinator does not read"
        yield "Elsewhere", f"it has records in partition {others} too{unread}"
    is_by_groups = answer["num_offsets_partitions_source"] == NumPartitionsSource.GROUPS
    of_all = f"one of {number}{', as the groups that were read show' if is_by_groups else ''}"
    place = f"where its records are; {NO_NUMBER}" if number is None else of_all
    yield "Partition", f"{OFFSETS_TOPIC}-{partition}, {place}"
    yield "Coordinator", coordinator_text(answer)
    yield from read_facts(history, answer)


def coordinator_text(answer: Mapping[str, Any]) -> str:
    name, as_of, epoch, since = (
        answer[name] for name in ("coordinator", "coordinator_as_of_time", "leader_epoch", "leader_epoch_time")
    )
    text = f"{name}, by the newest snapshot, of {time_text(as_of)}" if name is not None else NO_LEADER
    if epoch is None:
        return text
    began = "" if since is None else f", first record at {time_text(since)}"
    is_newer = as_of is not None and since is not None and since > as_of
    return f"{text}; leader epoch {epoch}{began}{': perhaps another broker since then' if is_newer else ''}"


def read_facts(history: History, answer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not answer["is_read"]:
        yield "Read", unread_text(history, answer["offsets_partition"])
        return
    first, last, until = (answer[name] for name in ("first_record_offset", "last_record_offset", "last_record_time"))
    when = "" if until is None else f", until {time_text(until)}"
    yield "Read", f"{counted(answer['num_records'], 'record')}, offsets {first} to {last}{when}"
    unseen = unseen_of(history.coverage(answer["offsets_partition"]))
    yield from (("Missing", str(each)) for each in unseen[-MOST_SHOWN:])
    if len(unseen) > MOST_SHOWN:
        yield "", f"and {len(unseen) - MOST_SHOWN} earlier ranges"
    yield "Sources", f"{counted(answer['num_sources'], 'source')}; the newest: {answer['newest_source']}"


def unread_text(history: History, partition: int) -> str:
    """Of a partition without records in the warehouse."""
    readings = {row["offsets_partition"]: row["reading"] for row in history.offsets_partitions.rows}
    if readings.get(partition) in KNOWN:
        return "to its end: it has no records"
    if readings.get(partition) == PartitionReading.NEVER_READ:
        return f"never: no source had it; the warehouse has {history.offsets_partitions.text}"
    known = sorted({row["offsets_partition"] for row in history.coverage()})
    which = list_names([str(each) for each in known], MOST_SHOWN)
    return f"never: no source had a record of it; the warehouse has {counted(len(known), 'other')}: {which}"

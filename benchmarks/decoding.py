"""Decoding, one thread, against Kafka's own deserialisers over the same records: `decode` of offset commits into
columns, and `mix` of everything, with what classic members carry."""

import time
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from benchmarks.rounds import Goal, Measured, take_turns
from benchmarks.run import Run
from benchmarks.serde_rounds import SerdeRounds
from schemas.fields import Message
from schemas.records import ASSIGNMENT, SUBSCRIPTION
from udfs.arrays.slices import Slices, slices_of
from udfs.decoding.client_payloads import version_groups
from udfs.decoding.decode import decode
from udfs.decoding.decoded import Decoded, Part
from udfs.framing.log_bytes.framed_records import Records

GROUP_METADATA = 2
# A call costs a fixed time for each kind of record in it. For one kind small calls are best, whose bytes stay in the
# cache; for a mix larger ones, in which the rare kinds have rows enough.
COMMITS_AT_ONCE = 32_768
RECORDS_AT_ONCE = 262_144


def measure_commits(run: Run) -> Measured:
    name = "decoding offset commits into columns, one thread"
    goal = Goal(at_least=1.1, aim=1.4)
    return against_kafka(run, run.million.commits, decode_commits, "commits", name, goal)


def measure_mix(run: Run) -> Measured:
    name = "decoding the whole mix, classic members and their payloads too, one thread"
    goal = Goal(at_least=0.9, aim=1.1)
    return against_kafka(run, run.million.records, decode_mix, "mix", name, goal)


def against_kafka(
    run: Run, records: Records, ours: Callable[[Records], int], command: str, name: str, goal: Goal
) -> Measured:
    def seconds() -> float:
        start = time.perf_counter()
        decoded = ours(records)
        taken = time.perf_counter() - start
        expect(decoded, len(records))
        return taken

    with SerdeRounds([run.million.segment]) as kafka:
        expect(kafka.counts[command], len(records))
        kafka.warm_up(command)
        ours_seconds, theirs_seconds = take_turns(seconds, lambda: kafka.seconds(command), run.rounds)
    speed, their_speed = len(records) / ours_seconds, len(records) / theirs_seconds
    return Measured(name, "Kafka's own deserialisers", "records/s", speed, their_speed, goal, run.rounds)


def decode_commits(records: Records) -> int:
    return sum(len(part.rows) for decoded in chunks(records, COMMITS_AT_ONCE) for part in decoded.parts)


def decode_mix(records: Records) -> int:
    count = 0
    for decoded in chunks(records, RECORDS_AT_ONCE):
        for part in decoded.parts:
            decode_members(part)
            count += len(part.rows)
    return count


def decode_members(part: Part) -> None:
    if part.record_type == GROUP_METADATA and part.value is not None:
        members = part.value.field("members").values
        decode_payloads(members.field("subscription"), SUBSCRIPTION)
        decode_payloads(members.field("assignment"), ASSIGNMENT)


def decode_payloads(column: pa.BinaryArray, message: Message) -> None:
    """Each distinct payload once; the column's codes say which member has which."""
    list(version_groups(slices_of(column.dictionary_encode().dictionary), message))


def chunks(records: Records, size: int) -> Iterator[Decoded]:
    for start in range(0, len(records), size):
        keys, values = (
            Slices(side.data, side.start[start : start + size], side.length[start : start + size])
            for side in (records.keys, records.values)
        )
        yield decode(keys, values, np.zeros(len(keys), bool))


def expect(records: int, wanted: int) -> None:
    """A figure for other work than the rival's would be worth nothing."""
    if records != wanted:
        raise RuntimeError(f"{records} records, {wanted} expected")

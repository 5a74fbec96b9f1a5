"""Logs that are hard to split or large in one place: `SKEWS` by name. A scale of 1 is the size that is promised."""

import json
import random
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.batches import Headers, framed, record_bodies
from benchmarks.byte_columns import joined_groups, text
from benchmarks.cast import PARTITIONS, offsets_partition
from benchmarks.generations import ASSIGNOR, V3, ClassicLife, log_bytes, topic_partitions
from benchmarks.group_records import NULL_BYTES, NULL_TEXT, Numbers, i4
from benchmarks.lag import AHEAD, APART, STEP, topics
from benchmarks.log import FIRST_TIME, MS_PER_BATCH
from benchmarks.segments import SNAPSHOTS, Plan, shaped_logs, write_logs
from benchmarks.shaped_log import COMMITS_PER_BATCH
from benchmarks.shapes import Shape, raw_topic_id, topics_of
from benchmarks.traffic import COMMIT, Commits, Records
from udfs.assignors.questions import Topic

SEGMENT_BYTES = 100 << 20
SEED = 1
# Enough that lag has intervals to measure.
NUM_SNAPSHOTS = 20
INGEST, REPLAY, ASSIGNMENTS, LAG = "ingest", "replay", "assignments", "lag"
ALL_STEPS = frozenset({INGEST, REPLAY, ASSIGNMENTS, LAG})


@dataclass(frozen=True)
class Skew:
    """`write` is called with a folder and the scale. `steps_to_split`: those that can share the work among workers.
    Records of one group follow from each other, so one worker must replay them."""

    what: str
    write: Callable[[Path, float], None]
    steps_to_split: frozenset[str] = ALL_STEPS


def scaled(number: int, scale: float) -> int:
    return max(1, round(number * scale))


# -- logs of a shape


def write_hot_partition(folder: Path, scale: float) -> None:
    """One offsets partition has 80 % of all records."""
    shape = Shape(300, 10)
    plan = Plan(scaled(10_000_000, scale), SEED, segment_bytes=SEGMENT_BYTES, shape=shape)
    groups, logs = shaped_logs(plan, shape)
    hot = int(np.argmax(groups))
    others = sum(groups) - groups[hot]
    groups[hot] = 4 * others
    write_logs(folder, plan, groups, logs)
    write_snapshots(folder, shape, plan.records * 4 // 5)


def write_shape(folder: Path, scale: float, *, groups: int, topics: int, topics_read: int, records: int) -> None:
    """The number of groups is scaled, unless it is one: then only the number of records is."""
    shape = Shape(groups if groups == 1 else scaled(groups, scale), topics, topics_read)
    plan = Plan(scaled(records, scale), SEED, segment_bytes=SEGMENT_BYTES, shape=shape)
    counts, logs = shaped_logs(plan, shape)
    write_logs(folder, plan, counts, logs)
    write_snapshots(folder, shape, plan.records * max(counts) // sum(counts))


def write_snapshots(folder: Path, shape: Shape, most_records: int) -> None:
    """Spread over the time of the partition that has most records."""
    last = most_records // COMMITS_PER_BATCH * MS_PER_BATCH
    write_lines(folder, ((elapsed, list(topics(shape, SEED, ended(elapsed)))) for elapsed in moments(last)))


def moments(last: int) -> list[int]:
    return [int(elapsed) for elapsed in np.linspace(0, last, NUM_SNAPSHOTS)]


def ended(elapsed: int) -> int:
    """How many commits a partition has by this time."""
    return elapsed * COMMITS_PER_BATCH // MS_PER_BATCH


def write_lines(folder: Path, snapshots: Iterator[tuple[int, list[dict[str, object]]]]) -> None:
    with (folder / SNAPSHOTS).open("w") as file:
        for elapsed, topics in snapshots:
            file.write(json.dumps({"captured_at": FIRST_TIME + elapsed, "topics": topics}) + "\n")


# -- logs of one group


def home_of(folder: Path, group: str) -> Path:
    home = folder / f"__consumer_offsets-{offsets_partition(group, 50)}"
    home.mkdir(parents=True)
    return home


def write_large_group(folder: Path, scale: float) -> None:
    """A classic group of 5,000 members and 50,000 partitions: some generations, then each partition's offset ten
    times."""
    group, generations, rounds = "billing", 5, 10
    per_topic = scaled(1_000, scale)
    names = topics_of(Shape(1, 50), SEED)
    read = tuple(Topic(each.name, per_topic, each.topic_id) for each in names)
    life = ClassicLife(group, read, scaled(5_000, scale), random.Random(SEED))
    records = [life.generation(FIRST_TIME + number) for number in range(generations)]
    home = home_of(folder, group)
    (home / f"{0:020}.log").write_bytes(log_bytes(records))
    commits = Commits(
        [group],
        [each.name for each in read],
        [raw_topic_id(each.topic_id or "") for each in read],
        np.random.default_rng(SEED),
    )
    place = np.arange(len(read) * per_topic)
    with (home / f"{0:020}.log").open("ab") as file:
        for number in range(rounds):
            base = generations + number * len(place)
            file.write(commit_batches(commits, base, place // per_topic, place % per_topic))
    last = (rounds * len(place) // COMMITS_PER_BATCH) * MS_PER_BATCH
    write_lines(folder, ((elapsed, list(ends(read, ended(elapsed)))) for elapsed in moments(last)))


def commit_batches(commits: Commits, base: int, topic: Numbers, partition: Numbers) -> bytes:
    """One commit for each partition, ten a batch."""
    number = len(topic)
    batch = np.arange(number) // COMMITS_PER_BATCH
    sizes = np.bincount(batch)
    first = np.cumsum(sizes) - sizes
    times = FIRST_TIME + (base // COMMITS_PER_BATCH + 1 + np.arange(len(sizes))) * MS_PER_BATCH
    none = np.zeros(number, np.int64)
    value = commits.offset_values(np.arange(number), topic, partition, times[batch])
    commits.written += number
    records = Records(
        np.full(number, COMMIT), none, times[batch], commits.offset_keys(none, topic, partition), value
    )  # fmt: skip
    bodies = joined_groups(record_bodies(records, np.arange(number) - first[batch], none), sizes)
    zero, no_producer = np.zeros(len(sizes), np.int64), np.full(len(sizes), -1)
    headers = Headers(base + first, sizes, zero, zero, times, times, no_producer, no_producer, no_producer)
    return b"".join(framed(headers, bodies).to_pylist())


def ends(read: Sequence[Topic], written: int) -> Iterator[dict[str, object]]:
    for number, topic in enumerate(read):
        firsts = [(number * PARTITIONS + each) * APART for each in range(topic.partitions)]
        yield {
            "topic": topic.name,
            "topic_id": topic.topic_id,
            "partitions": [
                {"partition": each, "log_start_offset": first, "log_end_offset": first + written * STEP + AHEAD}
                for each, first in enumerate(firsts)
            ],
        }


def write_large_metadata(folder: Path, scale: float) -> None:
    """Three generations of a group whose one member has 64 MB of user data in its subscription."""
    group, generations = "billing", 3
    read = topics_of(Shape(1, 1), SEED)[0]
    data = random.Random(SEED).randbytes(scaled(64_000_000, scale))
    records = [(b"\0\2" + text(group), with_user_data(read, number + 1, data)) for number in range(generations)]
    (home_of(folder, group) / f"{0:020}.log").write_bytes(log_bytes(records))
    write_lines(folder, ((elapsed, list(ends([read], 0))) for elapsed in moments(1000)))


def with_user_data(topic: Topic, generation: int, data: bytes) -> bytes:
    """GroupMetadataValue, version 3, of one member."""
    member = text("consumer-billing-1")
    places = ((topic.name, tuple(range(topic.partitions))),)
    nothing_owned = topic_partitions(())
    subscription = V3 + i4(1) + text(topic.name) + i4(len(data)) + data + nothing_owned + i4(-1) + NULL_TEXT
    assignment = V3 + topic_partitions(places) + NULL_BYTES
    head = V3 + text("consumer") + i4(generation) + text(ASSIGNOR) + member
    about = member + NULL_TEXT + text("billing") + text("/10.0.0.1") + i4(300_000) + i4(45_000)
    return b"".join([
        head, struct.pack(">qi", FIRST_TIME + generation, 1), about,
        i4(len(subscription)), subscription, i4(len(assignment)), assignment,
    ])  # fmt: skip


SKEWS = {
    "hot-partition": Skew("one offsets partition with 80 % of 10 million records", write_hot_partition),
    "hot-group": Skew(
        "one group with 10 million commits",
        partial(write_shape, groups=1, topics=10, topics_read=10, records=10_000_000),
        frozenset({INGEST}),
    ),
    "large-group": Skew("one group of 5,000 members and 50,000 partitions", write_large_group, frozenset({INGEST})),
    "many-groups": Skew(
        "200,000 groups", partial(write_shape, groups=200_000, topics=1, topics_read=1, records=3_000_000)
    ),
    "large-metadata": Skew("64 MB of metadata of one member", write_large_metadata, frozenset()),
    # A fifth more commits than keys, so that nearly all keys have one.
    "many-keys": Skew(
        "5 million keys", partial(write_shape, groups=3_300, topics=200, topics_read=10, records=6_500_000)
    ),
}

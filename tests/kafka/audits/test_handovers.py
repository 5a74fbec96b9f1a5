"""Bounds of unread time, and who is said to read, beside what clients of real groups wrote down themselves: members of
Java, librdkafka and kafka-python that join, leave, restart, stand still and are killed."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from jobs.answers.events.readers import Readers, Reading
from jobs.answers.history import History
from jobs.answers.table_reader import TableReader
from jobs.command_line.values import EPOCH
from jobs.warehouses.any_warehouse import reading
from tests.drawn_cases import draw_seed
from tests.kafka.audits.unread_judge import (
    AT_MOST_OUTSIDE,
    CLOCK_MS,
    Judged,
    WhoReads,
    drawn,
    heartbeat_ms,
    judged,
    who_reads,
    within,
)
from tests.kafka.handovers.capture import HANDOVER_RELEASES, Handovers, handovers_of
from tests.kafka.releases import KAFKA_4_3
from tests.runs.ingested import ingest, rows
from tests.runs.replayed_logs import replay

LEAST_GAPS: Final = 150
# Java's clients before 2.4 wrote the same.
OF_OLD_BYTES: Final = ("kafka-python", "range")
# Of three release lines together.
SOAK_ROUNDS, LEAST_GAPS_IN_SOAK = 2, 2_000
NUM_INSTANTS: Final = 10_000
INSTANTS_OF_EACH: Final = 30
WAYS: Final = {
    "failover", "handed_over", "killed", "left", "only_member_restarted", "returned", "static_expired",
    "static_restart", "stood_still", "topic_grown",
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    handovers: Handovers
    warehouse: Path
    judgements: list[Judged]
    # None: no such columns.
    readers: WhoReads | None


def case_of(handovers: Handovers, warehouse: Path) -> Case:
    ingest(warehouse, "--source", f"segments:{handovers.log_dir}", "--snapshots", handovers.snapshots)
    replay(warehouse)
    truth = handovers.truth
    instants = drawn(truth, NUM_INSTANTS, np.random.default_rng(int(draw_seed())))
    return Case(
        handovers,
        warehouse,
        judged(truth["gaps"], rows(warehouse, "partition_moves"), heartbeat_ms(handovers.snapshots)),
        who_reads(truth["held"], rows(warehouse, "ownership_intervals"), instants),
    )


@pytest.fixture(scope="module")
def newest(tmp_path_factory):
    return case_of(handovers_of(KAFKA_4_3), tmp_path_factory.mktemp("handovers") / "w")


@pytest.fixture(scope="module")
def three_release_lines(tmp_path_factory):
    return [
        case_of(handovers_of(release, SOAK_ROUNDS), tmp_path_factory.mktemp(name) / "w")
        for name, release in HANDOVER_RELEASES.items()
    ]


def outside(judgements):
    """The limit that docs/unread.md names left out: commits of librdkafka that come when a slow callback ends."""
    return [str(each) for each in judgements if each.is_outside and not each.gap["commits_late"]]


def missing(judgements):
    return [str(each) for each in judgements if each.is_missing]


@pytest.mark.broker
def test_the_capture_has_gaps_of_every_way_and_library(newest):
    truth = newest.handovers.truth
    assert len(truth["gaps"]) >= LEAST_GAPS
    assert {gap["way"] for gap in truth["gaps"]} == WAYS
    libraries = Counter(truth["groups"][gap["group"]]["library"] for gap in truth["gaps"])
    assert min(libraries[name] for name in ("java", "confluent", "kafka-python")) > LEAST_GAPS / 10
    # They read just before and soon after; who never did would make a gap of nothing.
    unread = [gap for gap in truth["gaps"] if gap["first_read_ms"] is None and gap["topic"] != "clicks"]
    assert len(unread) < len(truth["gaps"]) / 20


@pytest.mark.broker
def test_few_gaps_are_outside_their_bounds(newest):
    result = outside(newest.judgements)
    assert len(result) <= AT_MOST_OUTSIDE * len(newest.judgements), result


@pytest.mark.broker
def test_no_gap_is_without_bounds(newest):
    assert missing(newest.judgements) == []


@pytest.mark.broker
def test_nobody_else_reads_while_a_reader_is_certain(newest):
    assert newest.readers is not None
    assert newest.readers.not_the_reader == ()
    # Whoever is certain of nothing would pass.
    assert newest.readers.certain_share > 0.5


@pytest.mark.broker
def test_members_use_the_library_that_their_group_was_played_with(newest):
    """Members have client ids of their own, except those of Kafka Streams. Members of kafka-python show themselves by
    cooperative-sticky alone; those of consumer and share groups by nothing."""
    groups, seen = newest.handovers.truth["groups"], defaultdict(Counter)
    for row in rows(newest.warehouse, "membership_intervals"):
        of_group = groups[row["group_id"]]
        library = {"confluent": "librdkafka"}.get(of_group["library"], of_group["library"])
        assert row["client_library"] in (None, library), row
        seen[library, of_group["protocol"]][row["client_library_confidence"]] += 1
    # What says nothing of anybody would pass.
    for protocol in ("range", "cooperative-sticky"):
        assert {*seen["librdkafka", protocol]} == {"likely"}
    assert {*seen["java", "cooperative-sticky"]} == {*seen["kafka-python", "cooperative-sticky"]} == {"likely"}
    # Its leaders write what franz-go's do not; members that never lead may be of either.
    assert {*seen["java", "range"]} == {"likely", "possible"}
    nothing = [seen[each] for each in seen if each[1] in ("consumer", "share") or each == OF_OLD_BYTES]
    assert {confidence for some in nothing for confidence in some} == {None}
    assert {*seen["java", "streams"]} == {"possible"}


def readings(case):
    """What `owner` says of instants while groups had partitions, each with whether a client had the partition then."""
    versions = (warehouse := reading(str(case.warehouse))).versions()
    history = History(TableReader(warehouse, versions), *warehouse.clusters())
    generator = np.random.default_rng(int(draw_seed()))
    held = defaultdict(list)
    for row in case.handovers.truth["held"]:
        held[row["group"], row["topic"], row["partition"]].append(row)
    for (group, topic, partition), some in list(held.items())[::3]:
        readers = Readers(history, topic, partition, group)
        instants = drawn({"held": some}, INSTANTS_OF_EACH, generator) if len(some) > 1 else []
        for ms, is_held in zip(instants, within(np.asarray(instants), some, CLOCK_MS), strict=True):
            at = EPOCH + timedelta(milliseconds=ms)
            for stay in readers.stays.get(group, ()):
                if stay["from_time"] <= at and (stay["to_time"] is None or at < stay["to_time"]):
                    yield readers.view(stay, at).reading, bool(is_held), (group, topic, partition, at)


@pytest.mark.broker
def test_no_client_had_a_partition_where_nobody_is_said_to_read(newest):
    said = list(readings(newest))
    assert [where for word, is_held, where in said if word == Reading.NOBODY and is_held] == []
    # Whoever says that of nothing would pass.
    assert sum(word == Reading.NOBODY for word, _, _ in said) > len(said) / 100


def readers_without_doubt(readers):
    """Those that are more than may be."""
    return readers.not_in_doubt[int(AT_MOST_OUTSIDE * readers.num_given_up) :]


@pytest.mark.broker
def test_a_reader_that_gave_up_is_in_doubt(newest):
    assert newest.readers is not None
    assert newest.readers.num_given_up > NUM_INSTANTS
    assert readers_without_doubt(newest.readers) == ()


@pytest.mark.broker
@pytest.mark.soak
def test_bounds_hold_on_three_release_lines(three_release_lines):
    judgements = [each for case in three_release_lines for each in case.judgements]
    assert len(judgements) >= LEAST_GAPS_IN_SOAK
    assert len(outside(judgements)) <= AT_MOST_OUTSIDE * len(judgements), outside(judgements)
    assert missing(judgements) == []


@pytest.mark.broker
@pytest.mark.soak
def test_certain_readers_read_on_three_release_lines(three_release_lines):
    for case in three_release_lines:
        assert case.readers is not None
        assert (case.readers.not_the_reader, readers_without_doubt(case.readers)) == ((), ())

"""Histories whose targets Kafka's own assignors gave, of several releases and both lines of Java."""

import numpy as np
import pytest

from schemas.words.assignments import PartitionCountsSource, Verdict
from tests.builders.groups.modern_lives import LivedGroup, live
from tests.builders.groups.target_log import audit, audit_once
from tests.oracles.assignors.kafka_assignors import newer_java

pytestmark = pytest.mark.broker

# Of each assignor, with equal and with unequal subscriptions.
GROUPS = 6
SOAK_GROUPS = 240
# Of which enough have a partition that can be moved.
MOVED_GROUPS = 12
EPOCHS = 5
LIVES = {
    "3.9": [("uniform", True), ("uniform", False), ("range", True), ("range", False)],
    "4.0": [("uniform", True), ("uniform", False)],
    "4.1": [("simple", True), ("simple", False)],
    "4.3": [("uniform", True), ("uniform", False), ("range", True), ("range", False), ("simple", True),
            ("simple", False)],
}  # fmt: skip


def lived(rng: np.random.Generator, release: str, groups: int, is_newer_java: bool) -> list[LivedGroup]:
    java = newer_java() if is_newer_java else None
    if is_newer_java and java is None:
        pytest.skip("no Java from 19 on")
    all_ = [
        LivedGroup(rng, f"g{each}-{place}", assignor, release, is_equal)
        for place, (assignor, is_equal) in enumerate(LIVES[release])
        for each in range(groups)
    ]
    live(all_, release, EPOCHS, java)
    return all_


@pytest.mark.drawn(2)
@pytest.mark.parametrize("number", [GROUPS, pytest.param(SOAK_GROUPS, marks=pytest.mark.soak)])
@pytest.mark.parametrize("is_newer_java", [False, True], ids=["java-17", "java-25"])
@pytest.mark.parametrize("release", LIVES)
def test_what_kafkas_assignors_gave_is_recognised(
    release: str, is_newer_java: bool, number: int, rng: np.random.Generator
) -> None:
    groups = lived(rng, release, number, is_newer_java)
    assert sum(group.num_targets for group in groups) > 0.9 * EPOCHS * len(groups)
    for place, group in enumerate(groups):
        # Some in many runs too.
        rows = (audit_once if place % 6 else audit)(group.log, group.facts)
        assert len(rows) == group.num_targets
        for row in rows:
            message = f"{row.group_id} epoch {row.generation_or_epoch}: {row.verdict} {row.reason} {row.differences}"
            assert (row.verdict, row.assignor) == (Verdict.SAME, group.assignor), message
            confirmed = PartitionCountsSource.METADATA_HASH if group.has_hash else PartitionCountsSource.RECORD
            assert row.partition_counts_source in (confirmed, None), message


def test_a_partition_that_somebody_moved_is_detected(rng: np.random.Generator) -> None:
    """From one member that the last epoch wrote to another one that it wrote."""
    result = 0
    for group in lived(rng, "4.3", MOVED_GROUPS, is_newer_java=False):
        if group.is_share:
            # Small ones can come out as another release would have them.
            continue
        rows = [row for row in group.log.rows["target_assignment_members"] if not row.get("is_tombstone")]
        before = audit_once(group.log, group.facts)
        giver, taker = rows[-1], rows[-2] if len(rows) > 1 else rows[-1]
        is_written = min(giver["record_offset"], taker["record_offset"]) > before[-1].evidence_first_offset
        if giver is taker or not is_written or not giver["topic_partitions"]:
            continue
        topic = giver["topic_partitions"][0]
        if any(each["topic_id"] == topic["topic_id"] and topic["partitions"][-1] in each["partitions"]
               for each in taker["topic_partitions"]):  # fmt: skip
            continue
        partition = topic["partitions"].pop()
        taker["topic_partitions"].append({"topic_id": topic["topic_id"], "partitions": [partition]})
        after = audit_once(group.log, group.facts)
        assert [row.verdict for row in after] == [*(Verdict.SAME for _ in before[:-1]), Verdict.DRIFT]
        assert {each.partition for each in after[-1].differences or ()} == {partition}
        result += 1
    assert result > MOVED_GROUPS

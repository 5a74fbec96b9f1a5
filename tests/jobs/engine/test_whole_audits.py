"""Audits by tasks of Spark leave the rows that audits by worker processes leave, in every table, also when the log
grows between them: the sample, random logs, and what real brokers wrote."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.kafka.calm import CALM_RELEASES, calm_of
from tests.kafka.capture import Capture, capture_of
from tests.kafka.observations import observations_of
from tests.kafka.outages import OUTAGE_RELEASES, outages_of
from tests.kafka.releases import RELEASES, Release
from tests.runs.equal_audits import (
    SNAPSHOTS,
    Growth,
    assert_every_row_same,
    audit,
    grown_in_two,
    many_tasks,
    random_parts,
)
from tests.sample.part import sample_part

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("many_tasks")]

__all__ = ["many_tasks", "sample_part"]

MANY_LOGS = 10


def compacted_of(release: Release) -> Capture:
    return capture_of(release).compacted


CAPTURES = [
    pytest.param(make, release, id=f"{make.__name__}-{release.name}")
    for make, releases in (
        (capture_of, RELEASES),
        (compacted_of, RELEASES),
        (observations_of, RELEASES),
        (outages_of, OUTAGE_RELEASES),
        (calm_of, CALM_RELEASES),
    )
    for release in releases.values()
]


def is_by_spark(spark: "SparkSession", folder: Path, seed: int, grow: Growth, snapshots: Path = SNAPSHOTS) -> bool:
    """Whether Spark had tasks: of the smallest logs there is but one, which the driver does itself."""
    here, there, source = folder / "here", folder / "there", folder / "log"
    # How far a run must go back depends on how it was cut, and Spark has so many cores here.
    workers = ("--workers", str(spark.sparkContext.defaultParallelism))
    before = num_jobs(spark)
    for _ in grow(source, seed):
        audit(str(here), str(source), *workers, snapshots=snapshots)
        audit(str(there), str(source), "--engine", "spark", snapshots=snapshots)
        assert_every_row_same(here, there)
    return num_jobs(spark) > before


def num_jobs(spark: "SparkSession") -> int:
    return len(spark.sparkContext.statusTracker().getJobIdsForGroup())


def test_the_sample(spark: "SparkSession", sample_part: Path, tmp_path: Path, seed: int) -> None:
    assert is_by_spark(spark, tmp_path, seed, grown_in_two(sample_part))


def test_a_random_log(spark: "SparkSession", tmp_path: Path, seed: int) -> None:
    seeds = range(seed, seed + MANY_LOGS)
    assert any(is_by_spark(spark, tmp_path / str(each), each, random_parts) for each in seeds)


@pytest.mark.soak
def test_many_random_logs(spark: "SparkSession", tmp_path: Path, seed: int) -> None:
    for each in range(seed, seed + MANY_LOGS):
        is_by_spark(spark, tmp_path / str(each), each, random_parts)


@pytest.mark.broker
@pytest.mark.drawn(1)
@pytest.mark.parametrize(("make", "release"), CAPTURES)
def test_what_a_broker_wrote(
    spark: "SparkSession", tmp_path: Path, seed: int, make: Callable[[Release], Any], release: Release
) -> None:
    captured = make(release)
    snapshots = getattr(captured, "snapshots", SNAPSHOTS)
    assert is_by_spark(spark, tmp_path, seed, grown_in_two(captured.log_dir), snapshots)

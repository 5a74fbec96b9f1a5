"""Archives without leader epochs, as Spark's Kafka source has no such column, beside copies of the log that have
them."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from jobs import cli
from schemas.contract.tables import TABLES
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.archives import NOT_OF_SPARK, Row, archived, lines
from tests.builders.logs.copies import WrittenBatch, keys_of, random_log, write_copy
from tests.runs.ingested import history, ingest, is_healthy, keys, rows
from tests.runs.refused import check_no_leftovers, refused, unchanged

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("session")]

PARTITIONS = (3, 11)
# Without what names runs.
OF_REPLAY = ("offset_history", "coordinator_epochs", "history_coverage", "replay_anomalies", "transactions")


@pytest.fixture(scope="module")
def session(spark: "SparkSession") -> "SparkSession":
    """Which the runs take, as they would one of their own."""
    return spark


@pytest.fixture
def logs(rng: np.random.Generator) -> dict[int, list[WrittenBatch]]:
    return {partition: random_log(rng, 20) for partition in PARTITIONS}


def sources(
    folder: Path, logs: dict[int, list[WrittenBatch]], rng: np.random.Generator, without: tuple[str, ...] = NOT_OF_SPARK
) -> dict[str, str]:
    for partition, log in logs.items():
        write_copy(folder / "segments", partition, log, rng)
    (folder / "archive.jsonl").write_text(lines(archived(folder / "segments"), without))
    return {"segments": f"segments:{folder / 'segments'}", "archive": f"records:{folder / 'archive.jsonl'}"}


def expected(logs: dict[int, list[WrittenBatch]]) -> list[tuple[int, int, int]]:
    return sorted((partition, *key) for partition, log in logs.items() for key in keys_of(log))


def replayed(warehouse: Path) -> dict[str, list[str]]:
    assert cli.main(["replay", "--warehouse", str(warehouse)]) == 0
    return {
        name: sorted(
            repr({key: value for key, value in row.items() if key != "run_id"}) for row in rows(warehouse, name)
        )
        for name in OF_REPLAY
        if name in TABLES
    }


@pytest.mark.parametrize("engine", ["local", "spark"])
@pytest.mark.parametrize("first", ["segments", "archive"])
def test_a_record_is_stored_once_and_with_its_epoch(
    tmp_path: Path, logs: dict[int, list[WrittenBatch]], rng: np.random.Generator, first: str, engine: str
) -> None:
    # Random groups would be in both partitions, and a coordinator has a group in one.
    logs = {3: logs[3]}
    of = sources(tmp_path, logs, rng)
    ingest(tmp_path / "direct", "--source", of["segments"])
    ingest(tmp_path / "w", "--source", of.pop(first), "--engine", engine)
    replayed(tmp_path / "w")
    (second,) = of.values()
    run = ingest(tmp_path / "w", "--source", second, "--engine", engine)
    # Rejected records are written again with their epoch, as other damage that a copy makes good.
    num_rejected = 0 if first == "segments" else len(rows(tmp_path / "direct", "rejected_records"))
    assert (run["decoded"], run["rejected"], run["num_epoch_conflicts"]) == (0, num_rejected, 0)
    assert run["already_known"] == run["read"] - num_rejected == len(expected(logs)) - num_rejected
    assert keys(tmp_path / "w") == expected(logs)
    assert history(tmp_path / "w") == history(tmp_path / "direct")
    assert replayed(tmp_path / "w") == replayed(tmp_path / "direct")
    assert is_healthy(tmp_path / "w")
    check_no_leftovers(tmp_path / "w")


def test_only_records_that_a_copy_has_are_replaced(
    tmp_path: Path, logs: dict[int, list[WrittenBatch]], rng: np.random.Generator
) -> None:
    """Files of the tables also have rows of other partitions, offsets and clusters."""
    of = sources(tmp_path, logs, rng)
    for cluster in ("other", "ours"):
        ingest(tmp_path / "w", "--source", of["archive"], "--cluster", cluster)
    before = [row for row in all_rows(tmp_path / "w") if row["cluster"] == "other"]
    part = [each for number, each in enumerate(logs[3]) if number in (2, 3, 9)]
    write_copy(tmp_path / "copy", 3, part, rng)
    ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'copy'}", "--cluster", "ours")
    after = all_rows(tmp_path / "w")
    assert sorted(map(repr, before)) == sorted(repr(row) for row in after if row["cluster"] == "other")
    has_epoch = {(3, *key) for key in keys_of(part)}
    with_epochs = {key[:2]: key[2] for key in has_epoch}
    found = [key_of(row) for row in after if row["cluster"] == "ours"]
    assert sorted(found, key=repr) == sorted(
        ((*place, with_epochs.get(place)) for place in (key[:2] for key in expected(logs))), key=repr
    )
    assert is_healthy(tmp_path / "w")


def all_rows(warehouse: Path) -> list[Row]:
    return [row for name in history(warehouse) for row in rows(warehouse, name)]


def key_of(row: Row) -> tuple[int, int, int | None]:
    return row["offsets_partition"], row["record_offset"], row["partition_leader_epoch"]


def test_one_archive_may_have_records_with_epochs_and_without(
    tmp_path: Path, logs: dict[int, list[WrittenBatch]], rng: np.random.Generator
) -> None:
    of = sources(tmp_path, logs, rng)
    ingest(tmp_path / "direct", "--source", of["segments"])
    archive = tmp_path / "archive"
    archive.mkdir()
    records = archived(tmp_path / "segments")
    for name, without in (("plain", NOT_OF_SPARK), ("whole", ())):
        (archive / f"{name}.jsonl").write_text(lines(records, without))
    run = ingest(tmp_path / "w", "--source", f"records:{archive}")
    assert (run["read"], run["already_known"]) == (2 * len(records), len(records))
    assert history(tmp_path / "w") == history(tmp_path / "direct")
    assert is_healthy(tmp_path / "w")


@pytest.mark.parametrize("first", ["segments", "archive"])
def test_an_archive_of_another_log_is_reported(
    tmp_path: Path, rng: np.random.Generator, capsys: pytest.CaptureFixture[str], first: str
) -> None:
    of = sources(tmp_path, {3: random_log(rng, 8)}, rng)
    records = archived(tmp_path / "segments")
    records[5]["timestamp"] += 1
    (tmp_path / "archive.jsonl").write_text(lines(records, NOT_OF_SPARK))
    ingest(tmp_path / "w", "--source", of.pop(first))
    with unchanged(tmp_path / "w"):
        line = refused(tmp_path / "w", capsys, ExitCode.UNREADABLE_INPUT, "--source", *of.values())
    assert f": offset {records[5]['offset']}: " in line
    assert ".record_time is " in line
    assert line.endswith("; give this Kafka cluster another name: --cluster NAME")

"""Files of `group_verdicts`: each run about another time adds one. Small ones are rewritten as one, and the rows of one
time are taken out of it again when they are made anew."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from deltalake import DeltaTable

from jobs.doctor import run_checks
from jobs.storage.places.local_place import LocalPlace
from tests.runs.ingested import ROOT, ingest, rows, versions
from tests.runs.replayed_logs import assert_same, replay, result_of, row_texts
from tests.sample.part import sample_part

__all__ = ["sample_part"]

SAMPLE = ROOT / "data" / "sample"
NAME = "group_verdicts"
TIMES = [str(json.loads(line)["captured_at"]) for line in (SAMPLE / "snapshots.jsonl").read_text().splitlines()[8:20:3]]


def files(warehouse: Path) -> dict[str, int]:
    """How many rows each has."""
    added = DeltaTable(warehouse / NAME, version=versions(warehouse)[NAME]).get_add_actions(flatten=True)
    return dict(zip(added["path"].to_pylist(), added["num_records"].to_pylist(), strict=True))


@pytest.fixture(scope="module", params=[2, 16])
def measured(
    request: pytest.FixtureRequest, sample_part: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[str], int]:
    """A warehouse with verdicts of four times, and the flags of its runs."""
    folder = tmp_path_factory.mktemp("verdicts")
    config, warehouse = folder / "groupscope.toml", folder / "w"
    config.write_text(f"[tables]\nsmall_files = {request.param}\n")
    flags = ["--config", str(config)]
    ingest(warehouse, "--source", f"segments:{sample_part}", "--snapshots", SAMPLE / "snapshots.jsonl", *flags)
    replay(warehouse, *flags)
    for time in TIMES:
        result_of("lag", warehouse, "--as-of", time, *flags)
    return warehouse, flags, request.param


def by_time(warehouse: Path) -> Mapping[int, int]:
    result = [round(row["as_of_time"].timestamp() * 1000) for row in rows(warehouse, NAME)]
    return {time: result.count(time) for time in result}


@pytest.mark.drawn(1)
def test_small_files_of_verdicts_are_rewritten_as_soon_as_the_settings_say(
    measured: tuple[Path, list[str], int],
) -> None:
    """Four runs, of which each leaves one file: the files of earlier runs become one when there are two of them."""
    warehouse, _, most = measured
    assert len(files(warehouse)) == (2 if most == 2 else 4)
    assert by_time(warehouse).keys() == {int(time) for time in TIMES}
    assert all(by_time(warehouse).values())
    assert {finding.status for finding in run_checks(LocalPlace(warehouse))} == {"ok"}


def test_verdicts_of_one_time_are_replaced_in_a_file_that_holds_several(measured: tuple[Path, list[str], int]) -> None:
    warehouse, flags, most = measured
    before, counts, held = row_texts(warehouse, [NAME]), by_time(warehouse), files(warehouse)
    if most == 2:
        # The file that the run takes rows out of holds two times or more.
        assert max(held.values()) > max(counts.values())
    result = result_of("lag", warehouse, "--full", "--as-of", TIMES[0], *flags)
    assert NAME not in result["rows_added"]
    assert_same(before, row_texts(warehouse, [NAME]), "replaced")
    assert by_time(warehouse) == counts

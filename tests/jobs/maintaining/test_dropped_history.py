"""`groupscope maintain` drops closed history beyond the term and nothing else, whichever way runs are cut: rows within
the term, and all that later runs make, are those of a warehouse that nobody maintained."""

import json
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from jobs import cli
from jobs.maintaining.kept_rows import newest_whole_run
from jobs.maintaining.old_rows import OF_RUNS, Bounds, Kept, beyond_term
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.long_logs import LongLog, Model, as_rows, run, run_all
from tests.make.tables import make
from tests.runs.ingested import history, rows
from tests.runs.replayed_logs import ASSIGNMENTS, HISTORY, MEASURED, OF_THE_RUN, STATES, assert_same, plain, row_texts

KEEP = "3d"
COMPARED = (*HISTORY, *STATES, *ASSIGNMENTS, *MEASURED)


def maintain(warehouse, *flags):
    result = warehouse.with_suffix(".maintain.json")
    words = ["maintain", "--warehouse", str(warehouse), "--result-file", str(result), "--quiet", *flags]
    assert cli.main(words) == ExitCode.CLEAN
    found = json.loads(result.read_text())
    return found


def kept_since(found):
    (since,) = found["history_kept_since"].values()
    return datetime.fromisoformat(since).astimezone(UTC)


def check_same_within(whole, maintained, since, about):
    """How many rows were left out."""
    every = as_rows(whole, COMPARED)
    model = Model(every, since)
    left = {name: [row for row in found if not model.leaves_out(name, row)] for name, found in every.items()}
    expected = {name: sorted(as_told(name, row) for row in found) for name, found in left.items()}
    assert_same(expected, row_texts(maintained, COMPARED), about)
    return sum(len(every[name]) - len(found) for name, found in left.items())


def as_told(table, row):
    kept = {key: plain(table, key, value, row.get("run_id", "")) for key, value in row.items() if key not in OF_THE_RUN}
    return repr(kept)


def test_what_the_next_gate_reads_of_an_earlier_one_stays():
    """The gate of run 2 was the last one that found something changed."""
    runs, none = pa.table({"run_id": ["1", "2", "3", "4"]}), Bounds(pa.array([]), pa.array([]))
    kept = Kept(datetime(2026, 11, 20, tzinfo=UTC), "4", frozenset({"2"}), none, none)
    for table in OF_RUNS:
        assert beyond_term(table, runs, kept).to_pylist() == [True, False, True, False]


def test_the_run_whose_findings_are_shown_stays(tmp_path):
    narrowed = {"1": None, "2": None, "3": "--group g"}
    rows = [{"run_id": run, "suite": "s", "narrowed_by": by} for run, by in narrowed.items()]
    warehouse = make(tmp_path / "w", {"gate_runs": [*rows, {**rows[0], "run_id": "9", "cluster": "other"}]})
    assert newest_whole_run(warehouse, "a") == {"2"}
    assert newest_whole_run(make(tmp_path / "new", {"gate_runs": rows[2:]}), "a") == set()


@pytest.mark.parametrize(("seed", "steps"), [(3, 2), pytest.param(11, 4, marks=pytest.mark.soak)])
def test_rows_within_the_term_are_those_of_a_warehouse_that_nobody_maintained(tmp_path, seed, steps):
    log = LongLog(seed, tmp_path, steps)
    whole, maintained = tmp_path / "whole", tmp_path / "maintained"
    dropped = 0
    for step in range(steps):
        source = log.write(step)
        for warehouse in (whole, maintained):
            run_all(warehouse, source)
        found = maintain(maintained, "--keep", KEEP)
        assert check_same_within(whole, maintained, kept_since(found), f"{seed} {step}") >= found["num_rows_dropped"]
        dropped += found["num_rows_dropped"]
        assert cli.main(["doctor", "--warehouse", str(maintained)]) == ExitCode.CLEAN
    assert dropped > 300
    assert history(maintained) == history(whole)
    for job in ("replay", "assignments", "lag"):
        run(job, maintained, "--full")
        run(job, whole, "--full")
    # A full run of `lag` keeps verdicts as of other times.
    compared = [name for name in COMPARED if name != "group_verdicts"]
    assert_same(row_texts(whole, compared), row_texts(maintained, compared), "rebuilt")
    assert len(rows(maintained, "runs")) == len(rows(whole, "runs")) + steps

"""`groupscope sql` over the sample: whole commands, against Spark; and what the command line itself takes."""

import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.assignor_figures import Bound, Duration
from benchmarks.dump import seconds_of
from benchmarks.run import Run
from schemas.views import VIEWS

SAMPLE = Path(__file__).parents[1] / "data" / "sample"
GROUPSCOPE = str(Path(sys.executable).with_name("groupscope"))


def measure(run: Run) -> list[Duration]:
    warehouse = sample_warehouse(run.folder / "sample")

    def seconds(text: str, engine: str, rounds: int) -> float:
        command = [GROUPSCOPE, "sql", text, "--warehouse", str(warehouse), "--engine", engine]
        return median_seconds(command, rounds)

    by_view = {view: seconds(f"SELECT * FROM {view}", "local", run.rounds) for view in VIEWS}
    slowest = max(by_view, key=lambda view: by_view[view])
    # Half a minute a round, and nothing of it is warm in the next one.
    by_spark = {text: seconds(text, "spark", 1) for text in ("SELECT 1", f"SELECT * FROM {slowest}")}
    one, whole = by_spark.values()
    python = median_seconds([sys.executable, "-c", "pass"], run.rounds)
    return [
        Duration(
            "groupscope sql 'SELECT 1', against Spark", seconds("SELECT 1", "local", run.rounds), Bound(1, 0.5), one
        ),
        Duration(f"the slowest view, {slowest}, against Spark", by_view[slowest], Bound(2, 1), whole),
        Duration(
            "groupscope --help, against Python alone",
            median_seconds([GROUPSCOPE, "--help"], run.rounds),
            Bound(0.2),
            python,
        ),
    ]


def sample_warehouse(place: Path) -> Path:
    source = ["--source", f"segments:{SAMPLE}", "--snapshots", str(SAMPLE / "snapshots.jsonl")]
    for job in (["ingest", *source], ["replay"], ["assignments"]):
        seconds_of([GROUPSCOPE, *job, "--warehouse", str(place)])
    return place


def median_seconds(command: Sequence[str], rounds: int) -> float:
    return statistics.median(seconds_of(command) for _ in range(rounds))

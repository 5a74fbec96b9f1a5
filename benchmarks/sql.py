"""`groupscope sql` over the sample: whole commands, against Spark."""

from benchmarks.audit import SAMPLE, audit_command
from benchmarks.commands import groupscope, new_warehouse, seconds_of
from benchmarks.durations import Bound, Duration
from benchmarks.run import Run
from benchmarks.start import median_seconds
from schemas.views import VIEWS


def measure(run: Run) -> list[Duration]:
    warehouse = new_warehouse(run.folder)
    seconds_of(audit_command(SAMPLE, warehouse))

    def command(text: str, engine: str) -> list[str]:
        return groupscope("sql", text, "--warehouse", warehouse, "--engine", engine)

    by_view = {view: median_seconds(run, command(f"SELECT * FROM {view}", "local")) for view in VIEWS}
    slowest = max(by_view, key=lambda view: by_view[view])
    # Half a minute a round, and nothing of it is warm in the next one.
    by_spark = {text: seconds_of(command(text, "spark")) for text in ("SELECT 1", f"SELECT * FROM {slowest}")}
    one, whole = by_spark.values()
    ours = median_seconds(run, command("SELECT 1", "local"))
    return [
        Duration("groupscope sql 'SELECT 1', against Spark", ours, Bound(1, 0.5), one),
        Duration(f"the slowest view, {slowest}, against Spark", by_view[slowest], Bound(2, 1), whole),
    ]

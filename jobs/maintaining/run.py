"""The maintain job: it rewrites tables in one run, and then deletes what no run within the term needs."""

from datetime import timedelta

from jobs.maintaining.upkeep import upkeep_of
from jobs.runs.as_of import millis
from jobs.runs.dropped_history import MAINTAIN
from jobs.runs.run import Run, RunOutcome


class Maintain:
    name = MAINTAIN

    def __init__(self, keep: timedelta) -> None:
        self.keep = keep

    def make(self, run: Run) -> RunOutcome:
        upkeep = upkeep_of(run.warehouse, self.keep, run.started_ms, run.settings.tables, run.run_id)
        return RunOutcome(
            upkeep.changes,
            lambda _: upkeep.facts(),
            finish=upkeep.delete,
            by_cluster={cluster: {"as_of_time": kept and millis(kept.since)} for cluster, kept in upkeep.kept.items()},
            forget_versions_before=upkeep.runs.first_run_id,
        )

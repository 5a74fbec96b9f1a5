"""One run of a job on one cluster: the same steps for every job that writes to a warehouse.

options -> lock -> the job's plan, tasks and results -> manifest -> commits -> row of `runs` -> result
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from jobs.configuration.settings import Settings, load_settings, options_of, settings_hash
from jobs.engine.engine import Engine
from jobs.output.failure import say
from jobs.output.progress import doing
from jobs.runs.damaged_warehouse import naming_damage
from jobs.runs.older_warehouse import naming_older_tables
from jobs.runs.result import iso, now_ms, result_text, run_id_of, run_row, with_result_file
from jobs.runs.version_2 import bring_up_to_date
from jobs.storage.failpoints import failpoint
from jobs.storage.options import StorageOptions
from jobs.storage.places.addresses import is_remote, local_path
from jobs.warehouses.any_warehouse import one_cluster, writing
from jobs.warehouses.delta_tables import Change
from jobs.warehouses.manifest import Manifest
from jobs.warehouses.warehouse import Warehouse
from schemas.words.exit_codes import ExitCode


@dataclass(frozen=True)
class RunOptions:
    """The options of all jobs that write. `clock` returns epoch milliseconds."""

    warehouse: str
    cluster: str | None
    settings: Settings
    lock_wait: float
    result_file: Path | None = None
    # False for jobs that read what another job wrote: a mistyped name must not create a warehouse.
    may_be_new: bool = True
    clock: Callable[[], int] = now_ms
    # When the run began, if that was not when it opened the warehouse.
    started_ms: int | None = None
    # Whether the run is about all clusters of the warehouse.
    is_about_all: bool = False


def run_options(arguments: argparse.Namespace, *, may_be_new: bool = True) -> RunOptions:
    return RunOptions(
        warehouse=arguments.warehouse,
        cluster=arguments.cluster,
        settings=load_settings(arguments.config),
        lock_wait=arguments.lock_wait,
        result_file=getattr(arguments, "result_file", None),
        may_be_new=may_be_new,
    )


@dataclass(frozen=True)
class Run:
    """What a job needs to know about its run."""

    warehouse: Warehouse
    cluster: str
    sequence: int
    run_id: str
    started_ms: int
    settings: Settings
    engine: Engine
    clock: Callable[[], int]

    @property
    def storage_options(self) -> StorageOptions:
        """Needed only for remote storage. With Spark they come from its session, which takes seconds to start."""
        return options_of(self.settings, self.engine.hadoop_settings)


def nothing() -> None:
    pass


@dataclass(frozen=True)
class RunOutcome:
    """What a job made: the changes of each table, and its report. `counts`: the job's own columns of `runs`. `facts`:
    the part of the result that only this job has; it may depend on the run's seconds."""

    changes: Mapping[str, Change]
    facts: Callable[[float], Mapping[str, Any]]
    counts: Mapping[str, Any] = field(default_factory=dict)
    exit_code: ExitCode = ExitCode.CLEAN
    verdict: str = "clean"
    # Tables whose Delta logs cannot be read: they are created again.
    anew: tuple[str, ...] = ()
    # Called after all commits, still under the lock.
    finish: Callable[[], None] = nothing
    # For a run about the whole warehouse: its clusters, with columns of `runs` that differ between them.
    by_cluster: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # Versions that earlier runs name may be gone.
    forget_versions_before: str | None = None


class Job(Protocol):
    @property
    def name(self) -> str: ...

    def make(self, run: Run) -> RunOutcome: ...


@contextmanager
def open_warehouse(job: str, options: RunOptions, engine: Engine) -> Iterator[Warehouse]:
    """Opens the warehouse and holds its lock."""
    place = options.warehouse
    is_elsewhere = is_remote(place)
    # Executors are checked for a local warehouse, which exists by the time Spark starts.
    engine.warehouse = None if is_elsewhere else local_path(place).absolute()
    with writing(
        place,
        job,
        options.lock_wait,
        say,
        options_at(place, options, engine),
        may_be_new=options.may_be_new,
        may_still_write=lambda: engine.may_still_write,
    ) as warehouse:
        bring_up_to_date(warehouse, options.clock, say)
        yield warehouse
    engine.wait_for_closes()


def options_at(place: str, options: RunOptions, engine: Engine) -> StorageOptions:
    """With Spark the options come from its session, which takes seconds to start: so only for a storage that needs
    them."""
    return options_of(options.settings, engine.hadoop_settings if is_remote(place) else None)


def run_jobs(jobs: Sequence[Job], options: RunOptions, engine: Engine) -> list[dict[str, Any]]:
    """Runs the jobs one after the other under one lock, so that no other run comes between; returns their results."""
    with open_warehouse(jobs[0].name, options, engine) as warehouse:
        return run_all(jobs, warehouse, options, engine)


def run_all(jobs: Sequence[Job], warehouse: Warehouse, options: RunOptions, engine: Engine) -> list[dict[str, Any]]:
    return [execute(job, warehouse, options, engine) for job in jobs]


def execute(job: Job, warehouse: Warehouse, options: RunOptions, engine: Engine) -> dict[str, Any]:
    run = begin_run(warehouse, options, engine)
    with doing(job.name), naming_older_tables(warehouse), naming_damage(warehouse):
        made = job.make(run)
    failpoint("files_written")
    finished_ms = max(options.clock(), run.started_ms)
    facts = result(job.name, run, made, finished_ms)
    rows = run_rows(run, made, facts, finished_ms)
    changes = dict(made.changes)
    text = result_text(facts)
    with doing(f"{job.name}: writing tables"):
        warehouse.write(
            Manifest(
                run_id=run.run_id,
                sequence=run.sequence,
                time_ms=finished_ms,
                changes=changes,
                runs=rows,
                anew=made.anew,
                forget_versions_before=made.forget_versions_before,
            ),
            text,
        )
    made.finish()
    return with_result_file(options.result_file, facts)


def run_rows(run: Run, made: RunOutcome, facts: Mapping[str, Any], finished_ms: int) -> tuple[dict[str, Any], ...]:
    config = settings_hash(run.settings)
    of_clusters = made.by_cluster or {run.cluster: {}}
    return tuple(
        run_row({**facts, "cluster": cluster}, run.started_ms, finished_ms, config, {**made.counts, **columns})
        for cluster, columns in of_clusters.items()
    )


def begin_run(warehouse: Warehouse, options: RunOptions, engine: Engine) -> Run:
    started_ms = options.clock() if options.started_ms is None else options.started_ms
    sequence = warehouse.next_sequence()
    known = warehouse.clusters() if options.is_about_all else []
    cluster = known[0] if known else one_cluster(warehouse, options.cluster)
    run_id = run_id_of(sequence, started_ms)
    return Run(
        warehouse=warehouse,
        cluster=cluster,
        sequence=sequence,
        run_id=run_id,
        started_ms=started_ms,
        settings=options.settings,
        engine=engine,
        clock=options.clock,
    )


def result(job: str, run: Run, made: RunOutcome, finished_ms: int) -> dict[str, Any]:
    """The result of the run, for `_runs/RUN.json` and `--format json`."""
    seconds = (finished_ms - run.started_ms) / 1000
    about = {
        "run_id": run.run_id,
        "job": job,
        "cluster": run.cluster,
        "verdict": made.verdict,
        "exit_code": int(made.exit_code),
        "started_time": iso(run.started_ms),
        "finished_time": iso(finished_ms),
        "seconds": round(seconds, 3),
    }
    return {**about, **made.facts(seconds)}

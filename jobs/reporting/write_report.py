"""A report asked for and put into its folder, in one call for all commands that write one. Lanes of many groups are
made by worker processes."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import tzinfo

import pyarrow as pa

from jobs.command_line.values import GroupChoice
from jobs.engine.engine import Engine
from jobs.engine.task import Step, TaskSpec
from jobs.output.failure import Failure
from jobs.output.progress import counting, doing
from jobs.output.zones import ZONES, in_zone
from jobs.processes.processors import default_workers
from jobs.redacting.redaction import Key
from jobs.reporting.lanes import AT_ONCE, About, Lanes, lanes_of
from jobs.reporting.questions import CLUSTER, LANES, MADE, REDACTION, STORIES, asking
from jobs.reporting.report import GROUPS_FOLDER, MOST_BYTES, report_of
from jobs.reporting.report_folder import INDEX, basis_of, unwritable
from jobs.storage.places.place import Place
from jobs.warehouses.delta_tables import DataFile
from jobs.warehouses.warehouse import Warehouse
from udfs.sentences.counts import counted

# Fewer are made before a worker has loaded what it needs.
LEAST_FOR_WORKERS = 80
OF_LANES = (MADE, LANES, STORIES)
# What pages of groups are called, of earlier releases too.
OURS = ("part-", "group-")


@dataclass(frozen=True)
class WrittenReport:
    place: str
    verdict: str
    num_findings: int
    num_groups: int
    num_pages: int
    num_bytes: int

    @property
    def line(self) -> str:
        pages = f", {counted(self.num_pages, 'page')} of groups beside it" if self.num_pages else ""
        counts = f"{counted(self.num_findings, 'finding')}, {counted(self.num_groups, 'group')}{pages}"
        return f"{self.place}: verdict {self.verdict}; {counts}; {self.num_bytes / 1e6:.1f} MB"


def write_report(
    warehouse: Warehouse,
    cluster: str,
    choice: GroupChoice,
    folder: Place,
    key: Key | None = None,
    engine: Engine | None = None,
    most_bytes: int = MOST_BYTES,
) -> WrittenReport:
    """`key`: of the hashes that stand for names; None: names as they are. `engine`: of the run that it is part of. Its
    times are in the zone of --tz, whatever the format of what the command prints."""
    basis = basis_of(warehouse, cluster, choice)
    with doing("report"), in_zone(ZONES.people), asking(warehouse, cluster, CLUSTER, REDACTION, *OF_LANES) as session:

        def make_lanes(about: About, groups: Sequence[str], troubled: frozenset[str]) -> Mapping[str, Lanes]:
            task = LanesTask(about, tuple(groups), troubled, warehouse.root, warehouse.runs(), ZONES.people)
            if len(groups) >= LEAST_FOR_WORKERS:
                with workers_of(engine) as workers:
                    return lanes_by_workers(task, workers)
            made = {}
            with counting(len(groups), "groups") as activity:
                for group, lanes in lanes_of(session, about, groups, troubled):
                    made[group] = lanes
                    activity.done += 1
            return made

        document, pages = report_of(session, cluster, warehouse.address, choice, make_lanes, basis, most_bytes, key)
        sizes: dict[str, int] = {}
        try:
            for name, text in pages:
                (folder / name).write_whole(text)
                sizes[name] = len(text.encode())
            for place in (folder / GROUPS_FOLDER).files_in(".html"):
                if place.name.startswith(OURS) and f"{GROUPS_FOLDER}/{place.name}" not in sizes:
                    place.delete()
        except OSError as error:
            raise unwritable(folder, error.strerror or error) from None
        return WrittenReport(
            place=str(folder / INDEX),
            verdict=document["about"]["verdict"],
            num_findings=len(document["findings"]["rank"]),
            num_groups=document["groups"].get("is_gone", []).count(False),
            num_pages=len(sizes) - 1,
            num_bytes=sum(sizes.values()),
        )


@dataclass(frozen=True)
class LanesTask:
    about: About
    groups: tuple[str, ...]
    troubled: frozenset[str]
    root: Place
    # Of the warehouse: all processes read one state of it.
    runs: tuple[int, pa.Table]
    zone: tzinfo


@dataclass
class LanesDone:
    lanes: dict[str, Lanes] = field(default_factory=dict)
    failure: tuple[int, str] | None = None
    files: list[tuple[str, DataFile]] = field(default_factory=list)


def lanes_of_task(task: LanesTask) -> LanesDone:
    try:
        warehouse = Warehouse(task.root, seen=[task.runs])
        with in_zone(task.zone), asking(warehouse, task.about.cluster, *OF_LANES) as session:
            return LanesDone(dict(lanes_of(session, task.about, task.groups, task.troubled)))
    except Failure as error:
        return LanesDone(failure=(error.code, str(error)))


def lanes_by_workers(task: LanesTask, engine: Engine) -> dict[str, Lanes]:
    """`task`: all of it. Groups that lie together in the tables are read together."""
    groups, size = sorted(task.groups), min(AT_ONCE, -(-len(task.groups) // engine.num_workers))
    hands = [tuple(groups[first : first + size]) for first in range(0, len(groups), size)]
    tasks = [replace(task, groups=hand, troubled=task.troubled & frozenset(hand)) for hand in hands]
    step = Step(lanes_of_task, LanesDone, unfinished="index.html is still that of the previous report")
    specs = [TaskSpec(each, about="lanes of groups") for each in tasks]
    made: dict[str, Lanes] = {}
    for done in engine.run(step, specs, ([len(each.groups) for each in tasks], "groups")):
        if done.failure is not None:
            raise Failure(*done.failure)
        made |= done.lanes
    return made


@contextmanager
def workers_of(engine: Engine | None) -> Iterator[Engine]:
    """Those of the run; where Spark runs it processes of this machine, since no other one may see its folders."""
    # Here, since most reports need none.
    from jobs.engine.local import LocalEngine

    if isinstance(engine, LocalEngine):
        yield engine
        return
    with LocalEngine("groupscope report", default_workers(), is_debug=False, job="report") as own:
        yield own

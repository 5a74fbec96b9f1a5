"""A report asked for and put into its folder, in one call for all commands that write one."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from jobs.command_line.values import GroupChoice
from jobs.engine.engine import Engine
from jobs.output.progress import counting, doing
from jobs.output.zones import ZONES, in_zone
from jobs.processes.processors import default_workers
from jobs.redacting.redaction import Key
from jobs.reporting.group_pages import LEAST_FOR_WORKERS, write_by_workers
from jobs.reporting.page_files import INDEX, WrittenPages, write_group_pages, write_index
from jobs.reporting.report import Report, report_of
from jobs.reporting.report_folder import basis_of, unwritable
from jobs.storage.places.place import Place
from jobs.warehouses.warehouse import Warehouse
from udfs.sentences.counts import counted


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
        own = "a page of its own" if self.num_pages == 1 else "pages of their own"
        pages = f", {self.num_pages:,} of the groups with {own}" if self.num_pages else ""
        counts = f"{counted(self.num_findings, 'finding')}, {counted(self.num_groups, 'group')}{pages}"
        return f"{self.place}: verdict {self.verdict}; {counts}; {self.num_bytes / 1e6:.1f} MB"


def write_report(
    warehouse: Warehouse,
    cluster: str,
    choice: GroupChoice,
    folder: Place,
    key: Key | None = None,
    engine: Engine | None = None,
) -> WrittenReport:
    """`key`: of the hashes that stand for names; None: names as they are. `engine`: of the run that it is part of. Its
    times are in the zone of --tz, whatever the format of what the command prints."""
    basis = basis_of(warehouse, cluster, choice)
    with doing("report"), in_zone(ZONES.people), report_of(warehouse, cluster, choice, basis, key=key) as report:
        try:
            pages = write_groups(report, warehouse, folder, engine)
            num_bytes = pages.num_bytes + write_index(folder, report.index, pages.names)
        except OSError as error:
            raise unwritable(folder, error.strerror or error) from None
        place, num_pages = str(folder / INDEX), len(pages.names)
        return WrittenReport(
            place=place,
            verdict=report.head.verdict,
            num_findings=report.num_findings,
            num_groups=report.num_groups,
            num_pages=num_pages,
            num_bytes=num_bytes,
        )


def write_groups(report: Report, warehouse: Warehouse, folder: Place, engine: Engine | None) -> WrittenPages:
    number = len(report.others.groups.groups)
    if number < LEAST_FOR_WORKERS:
        with counting(number, "groups") as activity:
            return write_group_pages(folder, report.groups, activity)
    with workers_of(engine) as workers:
        return write_by_workers(report.others, warehouse, folder, workers)


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

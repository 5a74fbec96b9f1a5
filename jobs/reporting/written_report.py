"""A report asked for and put into its folder, in one call for all commands that write one."""

from dataclasses import dataclass

from jobs.reporting.choices import GroupChoice
from jobs.reporting.report import Report, report_of
from jobs.reporting.report_folder import basis_of, unwritable
from jobs.reporting.written_pages import INDEX, write_pages
from jobs.storage.stored_path import Place
from jobs.warehouses.warehouse import Warehouse


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
        pages = f", {self.num_pages:,} of them on pages of their own" if self.num_pages else ""
        counts = f"{self.num_findings:,} findings, {self.num_groups:,} groups{pages}"
        return f"{self.place}: {self.verdict}, {counts}, {self.num_bytes / 1e6:.1f} MB"


def write_report(
    warehouse: Warehouse, cluster: str, choice: GroupChoice, folder: Place, key: bytes | None = None
) -> WrittenReport:
    """`key`: of the hashes that stand for names; None: names as they are."""
    with report_of(warehouse, cluster, choice, basis_of(warehouse, cluster, choice), key=key) as report:
        try:
            num_pages, num_bytes = write_pages(folder, report.index, report.groups)
        except OSError as error:
            raise unwritable(folder, error.strerror or error) from None
        return written(report, folder, num_pages, num_bytes)


def written(report: Report, folder: Place, num_pages: int, num_bytes: int) -> WrittenReport:
    place = str(folder / INDEX)
    return WrittenReport(place, report.head.verdict, report.num_findings, report.num_groups, num_pages, num_bytes)

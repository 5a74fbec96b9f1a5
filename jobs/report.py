"""Writes the report: one HTML file with the verdict, the findings with their evidence, and drawings beside their rows.

    groupscope report --warehouse warehouse --report report
    groupscope report --group '^billing'

Reads every table at the versions of the newest run. Writes: `index.html`, and pages of single groups under `groups/`
where one file would be too large. It opens without a network.
"""

import argparse
import sys

from jobs.failure import Failure
from jobs.gating.options import check_pattern
from jobs.reporting.choices import GroupChoice
from jobs.reporting.report import Report, report_of
from jobs.reporting.written_pages import INDEX, write_pages
from jobs.row_output import write_lines
from jobs.storage.places import is_remote
from jobs.storage.stored_path import Place
from jobs.warehouses.any_warehouse import one_cluster, place_of, reading
from jobs.warehouses.warehouse import Warehouse
from schemas.exit_codes import ExitCode

DEFAULT, IN_WAREHOUSE = "report", "_report"


def run(arguments: argparse.Namespace) -> int:
    for flag, text in (("--group", arguments.group), ("--exclude-group", arguments.exclude_group)):
        check_pattern(flag, text)
    warehouse = reading(arguments.warehouse)
    cluster = known_cluster(warehouse, arguments.cluster)
    folder = folder_of(arguments)
    report = report_of(warehouse, cluster, GroupChoice(arguments.group, arguments.exclude_group))
    try:
        write_pages(folder, report.index, report.groups)
    except OSError as error:
        told = f"--report {folder}: {error.strerror or error}, a folder that can be written to was expected"
        raise Failure(ExitCode.USAGE, told) from None
    write_lines([line(report, folder)])
    return ExitCode.CLEAN


def known_cluster(warehouse: Warehouse, wanted: str | None) -> str:
    known = warehouse.clusters()
    if wanted is not None and known and wanted not in known:
        raise Failure(ExitCode.USAGE, f"--cluster {wanted}: not in the warehouse, which has {', '.join(known)}")
    return one_cluster(warehouse, wanted)


def folder_of(arguments: argparse.Namespace) -> Place:
    if arguments.report is None and is_remote(arguments.warehouse):
        return place_of(f"{arguments.warehouse.rstrip('/')}/{IN_WAREHOUSE}")
    return place_of(arguments.report or DEFAULT)


def line(report: Report, folder: Place) -> str:
    pages = f", {len(report.groups):,} pages of groups" if report.groups else ""
    counts = f"{report.num_findings:,} findings, {report.num_groups:,} groups{pages}, {report.num_bytes / 1e6:.1f} MB"
    return f"{folder / INDEX}: {report.head.verdict}, {counts}"


if __name__ == "__main__":
    from jobs.cli import main

    sys.exit(main(["report", *sys.argv[1:]]))

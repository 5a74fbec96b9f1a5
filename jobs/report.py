"""Writes the report: one HTML file with the verdict, the findings with their evidence, and drawings, each with its
rows.

    groupscope report --warehouse warehouse --report report
    groupscope report --group '^billing'
    groupscope report --redact --copy-to /srv/redacted

Reads every table at the versions of the newest run. Writes: `index.html`, and pages of groups under `groups/` if one
file would be too large. A browser shows it without a network.
"""

import argparse
import time
from dataclasses import asdict

from jobs.command_line.values import GroupChoice
from jobs.gating.options import check_matches, check_pattern
from jobs.output.failure import Failure
from jobs.output.rows import Format, print_rows, write_lines
from jobs.redacting.copy_warehouse import Copied, copy_warehouse
from jobs.redacting.redaction import Key, Redaction, is_hash, key_of
from jobs.reporting.report import MOST_BYTES
from jobs.reporting.report_folder import check_cluster, check_folder, marks_of, report_place
from jobs.reporting.write_report import WrittenReport, write_report
from jobs.storage.places.place import Place
from jobs.warehouses.any_warehouse import check_has_runs, check_path, known_cluster, place_of, reading
from jobs.warehouses.warehouse import Warehouse
from schemas.words.exit_codes import ExitCode


def run(arguments: argparse.Namespace) -> int:
    for flag, text in (("--group", arguments.group), ("--exclude-group", arguments.exclude_group)):
        check_pattern(flag, text)
    warehouse = reading(arguments.warehouse)
    if arguments.copy_to is not None:
        return copy(warehouse, arguments)
    check_has_runs(warehouse)
    cluster = known_cluster(warehouse, arguments.cluster)
    choice = GroupChoice(arguments.group, arguments.exclude_group)
    check_known(warehouse, cluster, choice)
    folder = place_of(report_place(arguments.report, arguments.warehouse))
    check_folder(folder)
    key = redaction_key(arguments)
    check_report_before(folder, cluster, key)
    report = write_report(warehouse, cluster, choice, folder, key, most_bytes=arguments.split or MOST_BYTES)
    print_line(report, arguments.format)
    return ExitCode.CLEAN


def copy(warehouse: Warehouse, arguments: argparse.Namespace) -> int:
    key = redaction_key(arguments)
    if key is None:
        raise Failure(ExitCode.USAGE, f"--copy-to {arguments.copy_to}: also needs --redact")
    for name in ("group", "exclude_group", "cluster", "report", "split"):
        if getattr(arguments, name) is not None:
            line = "a copy holds every group and cluster of the warehouse, and no report"
            raise Failure(ExitCode.USAGE, f"--{name.replace('_', '-')}: not with --copy-to; {line}")
    check_path(arguments.copy_to)
    copied = copy_warehouse(warehouse, place_of(arguments.copy_to), key, time.time_ns() // 1_000_000)
    print_line(copied, arguments.format)
    return ExitCode.CLEAN


def print_line(written: WrittenReport | Copied, form: str) -> None:
    if form == Format.TABLE:
        write_lines([written.line])
    else:
        facts = asdict(written)
        print_rows(list(facts), [list(facts.values())], form)


def check_known(warehouse: Warehouse, cluster: str, choice: GroupChoice) -> None:
    if choice.group is not None:
        rows = warehouse.rows("group_state_intervals", ["group_id"], cluster)
        check_matches(choice, set() if rows is None else set(rows.column("group_id").to_pylist()), cluster)


def redaction_key(arguments: argparse.Namespace) -> Key | None:
    if arguments.redact_key is not None and not arguments.redact:
        raise Failure(ExitCode.USAGE, f"--redact-key {arguments.redact_key}: also needs --redact")
    return key_of(arguments.redact_key) if arguments.redact else None


def check_report_before(folder: Place, cluster: str, key: Key | None) -> None:
    marks = marks_of(folder)
    shown = None if key is None else Redaction(key.secret, ()).name(cluster)
    if key is not None and not key.is_kept and is_hash(marks.cluster):
        if marks.key is not None:
            line = "holds a report redacted with a key file; add --redact-key FILE, or choose another folder"
            raise Failure(ExitCode.USAGE, f"--report {folder}: {line}")
        # Hashes of two keys say nothing about each other.
        shown = marks.cluster
    check_cluster(folder, marks, cluster, shown)

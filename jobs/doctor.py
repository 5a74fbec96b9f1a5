"""Checks a warehouse on any storage and says how to repair it.

    groupscope doctor --warehouse /data/groupscope
    groupscope doctor --warehouse s3://bucket/groupscope

Reads the Delta logs, the Parquet footers and the key columns of every table, and counts the rows as DuckDB and delta-rs
read them; with --spark also as Spark does. Changes nothing: prints problems, worst first, each with what mends it. Exit
code 0 if nothing is broken, else 23.
"""

import argparse
from collections.abc import Sequence

from jobs.checks import history_checks, row_checks, snapshot_checks, table_checks, version_checks
from jobs.checks.check import Finding, Status, findings
from jobs.output.failure import say
from jobs.output.progress import doing
from jobs.output.rows import print_rows
from jobs.storage.places.place import Place
from jobs.warehouses.any_warehouse import check_path, place_of
from jobs.warehouses.open_warehouse import reading
from schemas.words.exit_codes import ExitCode
from udfs.sentences.counts import counted


def run(arguments: argparse.Namespace) -> int:
    check_path(arguments.warehouse)
    all_findings = run_checks(place_of(arguments.warehouse), with_spark=arguments.spark)
    print_rows(Finding._fields, all_findings, arguments.format, is_wide=arguments.wide)
    if number := sum(finding.status is Status.BROKEN for finding in all_findings):
        line = f"{counted(number, 'problem')} with status broken; do not use this warehouse until repaired"
        say(f"{arguments.warehouse}: {line}")
        return ExitCode.UNUSABLE_WAREHOUSE
    return ExitCode.CLEAN


def run_checks(root: Place, *, with_spark: bool = False) -> Sequence[Finding]:
    modules = (table_checks, row_checks, history_checks, snapshot_checks, version_checks)
    checks = [check for module in modules for check in module.CHECKS]
    if with_spark:
        checks.append(version_checks.SPARK)
    with doing("doctor"):
        checked = table_checks.open_tables(reading(root))
        all_findings = [finding for check in checks for finding in findings(check, checked)]
    return sorted(all_findings, key=lambda finding: list(Status).index(finding.status))

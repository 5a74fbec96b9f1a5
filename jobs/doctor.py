"""Checks a warehouse on any storage and says how to repair it.

    groupscope doctor --warehouse /data/groupscope
    groupscope doctor --warehouse s3://bucket/groupscope

Reads the Delta logs, the Parquet footers and the key columns of every table. Changes nothing: prints problems, worst
first. Exit code 0 if nothing is broken, else 23.
"""

import argparse
import sys
from collections.abc import Sequence

from jobs.checks import row_checks, table_checks
from jobs.checks.check import Finding, Status, findings
from jobs.output.failure import say
from jobs.output.progress import doing
from jobs.output.rows import print_rows
from jobs.storage.stored_path import Place
from jobs.warehouses.any_warehouse import place_of
from jobs.warehouses.warehouse import reading
from schemas.words.exit_codes import ExitCode
from udfs.sentences.counts import counted

ORDER = list(Status)


def run(arguments: argparse.Namespace) -> int:
    found = examined(place_of(arguments.warehouse))
    print_rows(Finding._fields, found, arguments.format)
    number = sum(finding.status is Status.BROKEN for finding in found)
    if not number:
        return ExitCode.CLEAN
    told = f"{counted(number, 'problem')} with status broken; do not use this warehouse until repaired"
    say(f"{arguments.warehouse}: {told}")
    return ExitCode.UNUSABLE_WAREHOUSE


def examined(root: Place) -> Sequence[Finding]:
    checks = (*table_checks.CHECKS, *row_checks.CHECKS)
    with doing("doctor"):
        checked = table_checks.opened(reading(root))
        found = [finding for check in checks for finding in findings(check, checked)]
    return sorted(found, key=lambda finding: ORDER.index(finding.status))


if __name__ == "__main__":
    from jobs.cli import main

    sys.exit(main(["doctor", *sys.argv[1:]]))

"""`groupscope gate --span`: records that a span of data was validated, before a consumer commits its offsets.

It does not wait for other runs: a consumer must not wait for an audit.
"""

import argparse
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from jobs.command_line.values import EPOCH, Span, instant
from jobs.output.failure import Failure, say, visible
from jobs.output.rows import print_rows
from jobs.recording.spans_table import add_rows, identity
from jobs.recording.validation_results import ValidationResult, read_result
from jobs.warehouses.any_warehouse import one_cluster, options_of_file, reading
from jobs.warehouses.delta_tables import UNREADABLE, one_line
from jobs.warehouses.open_warehouse import check_writable, unusable_when_full
from jobs.warehouses.warehouse import Warehouse
from schemas.words.exit_codes import ExitCode
from schemas.words.gate import SpanVerdict

# Flags of `gate` that have no effect with --span: it checks no table, and waits for no run.
WITHOUT_EFFECT = (
    "fail_on", "since", "exclude_group", "as_of", "result_file", "lock_wait", "engine", "workers",
)  # fmt: skip
SHOWN = ("group_id", "topic", "partition", "from_offset", "to_offset", "suite", "verdict")


def record_span(arguments: argparse.Namespace) -> int:
    """Returns the exit code: 0 passed or overridden, 20 failed."""
    now = EPOCH + timedelta(microseconds=time.time_ns() // 1_000)
    check_flags(arguments)
    until = until_time(arguments.until, now) if arguments.override is not None else None
    result = read_result(arguments.result)
    warehouse = open_warehouse(arguments)
    rows = rows_to_record(arguments, warehouse, result, until, now)
    with unusable_when_full(warehouse.root):
        check_writable(warehouse.root)
        added = {identity(row) for row in add_rows(warehouse.path("gate_spans"), rows)}
    report(rows, added, result, arguments)
    is_through = rows[0]["verdict"] != SpanVerdict.FAILED
    return ExitCode.CLEAN if is_through else ExitCode.FINDINGS


def check_flags(arguments: argparse.Namespace) -> None:
    if not arguments.span:
        raise misuse("--result, --override and --actor also need --span TOPIC:PARTITION:FROM:TO")
    for name in WITHOUT_EFFECT:
        if getattr(arguments, name) is not None:
            raise misuse(
                f"--{name.replace('_', '-')} has no effect with --span, which only records spans; leave it out"
            )
    if not arguments.group:
        raise misuse(
            "--span also needs --group NAME: the id of the one group that commits these offsets, not a pattern"
        )
    if arguments.result is None:
        raise misuse("--span also needs --result FILE: the Great Expectations result for the data")
    if (repeated := first_repeated(arguments.span)) is not None:
        raise misuse(f"--span {repeated}: is given twice; give each span once")
    if arguments.override is None and arguments.actor is not None:
        raise misuse("--actor also needs --override REASON")
    if arguments.override is None and arguments.until is not None:
        raise misuse("--until with --span is the time when an override ends; it also needs --override REASON")
    if arguments.override is not None:
        for flag, value in (("--override", arguments.override), ("--actor", arguments.actor)):
            if not (value or "").strip():
                line = "is missing" if value is None else f"is {value!r}"
                raise misuse(f"{flag} {line}; to accept data that failed, give --override REASON --actor WHO --until T")
        if arguments.until is None:
            raise misuse("--until is missing; to accept data that failed, give --override REASON --actor WHO --until T")
    check_texts(arguments)


def first_repeated(spans: Sequence[Span]) -> Span | None:
    """Ignores the number of rows."""
    seen: set[str] = set()
    for span in spans:
        if str(span) in seen:
            return span
        seen.add(str(span))
    return None


def check_texts(arguments: argparse.Namespace) -> None:
    """Python passes on command-line bytes that are not UTF-8, but a table cannot store them."""
    for flag in ("group", "override", "actor", "cluster"):
        try:
            (getattr(arguments, flag) or "").encode()
        except UnicodeEncodeError:
            raise misuse(f"--{flag}: is not UTF-8; give a text in UTF-8") from None


def misuse(line: str) -> Failure:
    return Failure(ExitCode.USAGE, line)


def until_time(text: str, now: datetime) -> datetime:
    now_ms = (now - EPOCH) // timedelta(milliseconds=1)
    ends = EPOCH + timedelta(milliseconds=instant(text, now_ms, "--until"))
    if ends <= now:
        raise misuse(f"--until {text}: is not after now; give a time in the future")
    return ends


def open_warehouse(arguments: argparse.Namespace) -> Warehouse:
    """The warehouse must exist: a mistyped name would create a new one that no audit reads."""
    return reading(arguments.warehouse, options_of_file(arguments.config), may_be_before=True)


def rows_to_record(
    arguments: argparse.Namespace,
    warehouse: Warehouse,
    result: ValidationResult,
    until: datetime | None,
    now: datetime,
) -> list[dict[str, Any]]:
    is_overridden = until is not None and not result.is_passed
    failed = SpanVerdict.OVERRIDDEN if is_overridden else SpanVerdict.FAILED
    about = {
        "cluster": cluster_of(warehouse, arguments.cluster),
        "group_id": arguments.group,
        "suite": result.suite,
        "verdict": str(SpanVerdict.PASSED if result.is_passed else failed),
        # If the data passed, the override was not needed.
        "override_reason": arguments.override if is_overridden else None,
        "actor": arguments.actor if is_overridden else None,
        "until_time": until if is_overridden else None,
        "recorded_time": now,
        "result_hash": result.sha256,
    }
    return [{**about, **vars(span)} for span in arguments.span]


def cluster_of(warehouse: Warehouse, wanted: str | None) -> str:
    # With --cluster, the clusters in the warehouse do not matter, and finding them would cost a read of `runs`.
    if wanted is not None:
        return wanted
    try:
        return one_cluster(warehouse, None)
    except UNREADABLE as error:
        line = f"{warehouse.address}: its table runs cannot be read: {one_line(error)}; run `groupscope doctor`"
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, line) from None


def report(
    rows: Sequence[dict[str, Any]],
    added: set[tuple[Any, ...]],
    result: ValidationResult,
    arguments: argparse.Namespace,
) -> None:
    shown = [[*(row[name] for name in SHOWN), identity(row) in added] for row in rows]
    print_rows((*SHOWN, "is_new"), shown, arguments.format)
    if result.is_passed and arguments.override is not None:
        say("the data passed: the override was not needed and is not recorded")
    for failure in result.failures:
        say(visible(f"failed: {failure}"))

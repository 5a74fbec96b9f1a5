"""Flags that several commands share, and the parsing of times that users type."""

import argparse
import os
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from jobs.output.failure import Failure
from jobs.output.rows import Format
from schemas.words.exit_codes import ExitCode

NEWEST = "time of the newest record or snapshot"
FORMAT = "output as an aligned table (the default), CSV or JSON lines"
LOCAL, SPARK = "local", "spark"
LOCK_WAIT = 600
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_MS = (datetime.min.replace(tzinfo=UTC) - EPOCH) // timedelta(milliseconds=1)
LAST_MS = (datetime(9999, 12, 31, 23, 59, 59, 999_000, UTC) - EPOCH) // timedelta(milliseconds=1)


def add_warehouse_flags(parser: argparse.ArgumentParser) -> None:
    add_warehouse_flag(parser)
    add_cluster_flag(parser)
    add_config_flag(parser)
    add_lock_flag(parser)
    add_quiet_flag(parser)


def add_config_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="settings file (default: conf/groupscope.toml, if it exists)"
    )


def add_lock_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--lock-wait",
        type=seconds,
        default=LOCK_WAIT,
        metavar="SECONDS",
        help=f"how many seconds to wait while another run uses the warehouse (default: {LOCK_WAIT})",
    )


def add_quiet_flag(parser: argparse.ArgumentParser) -> None:
    """For commands that show their progress."""
    parser.add_argument("--quiet", action="store_true", help="do not show progress and time left")


def add_engine_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--engine",
        choices=(LOCAL, SPARK),
        help="where the work runs: in processes on this machine (local, the default) or in Spark (the default under "
        "spark-submit)",
    )
    parser.add_argument(
        "--workers",
        type=number_of_workers,
        metavar="N",
        help="number of processes of the local engine (default: one per core, fewer if memory is short)",
    )


def wanted_engine(arguments: argparse.Namespace) -> str:
    """Without --engine, the way the command was started decides."""
    return str(arguments.engine or (SPARK if is_submitted() else LOCAL))


def is_submitted() -> bool:
    """spark-submit sets this variable, so that the program it starts finds its Java."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def number_of_workers(text: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,3}", text):
        raise argparse.ArgumentTypeError(f"{text!r}; give a number of processes such as 4")
    return int(text)


def add_warehouse_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--warehouse",
        default="warehouse",
        metavar="DIR",
        help="folder or URI of the Delta tables (default: warehouse/)",
    )


def add_cluster_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cluster",
        type=cluster_name,
        metavar="NAME",
        help="name of the Kafka cluster in the warehouse; required if there are several (default: the only one; in a "
        "new warehouse the name is 'default')",
    )


def add_format_flag(
    parser: argparse.ArgumentParser,
    default: Format = Format.TABLE,
    text: str = FORMAT,
) -> None:
    parser.add_argument(
        "--format",
        choices=[format.value for format in Format],
        default=default.value,
        help=text,
    )


def add_reader_flags(parser: argparse.ArgumentParser, default: Format = Format.TABLE, text: str = FORMAT) -> None:
    """`default` and `text`: of the format."""
    add_warehouse_flag(parser)
    add_cluster_flag(parser)
    add_format_flag(parser, default, text)
    add_quiet_flag(parser)


def add_wide_flag(parser: argparse.ArgumentParser) -> None:
    """For commands whose tables can be wider than a terminal."""
    parser.add_argument(
        "--wide", action="store_true", help="show all columns and full member ids; CSV and JSON always have them"
    )


def add_report_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--report",
        metavar="DIR",
        help="folder or URI for the HTML report (default: report/, or the folder _report/ of a warehouse that is not "
        "on a local disk)",
    )


def add_at_flag(parser: argparse.ArgumentParser, text: str = "the time to show") -> None:
    parser.add_argument(
        "--at",
        metavar="T",
        help=f"{text}: ISO 8601 (UTC if it has no zone), milliseconds since 1970, or now (default: time of the newest "
        "record or snapshot)",
    )


def add_as_of_flag(parser: argparse.ArgumentParser, default: str = NEWEST) -> None:
    parser.add_argument(
        "--as-of",
        metavar="T",
        help="evaluate lag, expiry, verdicts and findings as of this time: ISO 8601 (UTC if it has no zone), "
        f"milliseconds since 1970, or now (default: {default})",
    )


def add_run_flags(parser: argparse.ArgumentParser, full: str) -> None:
    """`full`: what `--full` does, for its help."""
    parser.add_argument("--full", action="store_true", help=f"{full}, and ignore what earlier runs computed")
    parser.add_argument(
        "--result-file", type=Path, metavar="FILE", help="also write the result of the run to this file, as JSON"
    )
    add_warehouse_flags(parser)
    add_engine_flags(parser)
    add_format_flag(parser)


def cluster_name(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise argparse.ArgumentTypeError(f"{text!r}; give a name without control characters")
    return text


def any_case(words: Iterable[str]) -> Callable[[str], str]:
    """One of the words, in upper or lower case, as Kafka's tools accept theirs."""
    known = {word.lower(): word for word in words}
    return lambda text: known.get(text.lower(), text)


def seconds(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?", text):
        raise argparse.ArgumentTypeError(f"{text!r}; give a number of seconds")
    return float(text)


def instant(text: str, now: int, flag: str = "time") -> int:
    """Milliseconds since 1970 of a time: ISO 8601 (UTC if it has no zone), milliseconds since 1970 or `now`."""
    if text == "now":
        return now
    if re.fullmatch("[0-9]+", text):
        return epoch_ms(text, flag)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise wrong_instant(text, flag) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    milliseconds = (moment - EPOCH) // timedelta(milliseconds=1)
    # At either end of the calendar, a time of another zone may have no year in UTC.
    if not FIRST_MS <= milliseconds <= LAST_MS:
        raise wrong_instant(text, flag)
    return milliseconds


def epoch_ms(text: str, flag: str) -> int:
    # ISO 8601 reads 20261121 as a date. Read as milliseconds it would silently mean a time in 1970.
    if re.fullmatch("(19|20)[0-9]{6}", text) or int(text[:20]) > LAST_MS:
        raise wrong_instant(text, flag)
    return int(text)


def as_of_micros(text: str | None, now: int) -> int | None:
    return None if text is None else instant(text, now, "--as-of") * 1000


def wrong_instant(text: str, flag: str) -> Failure:
    expected = "give ISO 8601 such as 2026-11-21T03:00 or 2026-11-21, milliseconds since 1970, or the word now"
    return Failure(ExitCode.USAGE, f"{flag} {text!r}: {expected}")

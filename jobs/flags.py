"""Flags that commands share, and the instants that users write."""

import argparse
import os
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from jobs.failure import Failure
from jobs.row_output import Format
from schemas.exit_codes import ExitCode

LOCAL, SPARK = "local", "spark"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LAST_MS = (datetime(9999, 12, 31, 23, 59, 59, 999_000, UTC) - EPOCH) // timedelta(milliseconds=1)


def add_warehouse_flags(parser: argparse.ArgumentParser) -> None:
    add_warehouse_flag(parser)
    add_cluster_flag(parser)
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="settings; default: conf/groupscope.toml where that is there"
    )
    parser.add_argument(
        "--lock-wait",
        type=seconds,
        default=600,
        metavar="SECONDS",
        help="how long to wait for another run on this warehouse (600)",
    )
    add_quiet_flag(parser)


def add_quiet_flag(parser: argparse.ArgumentParser) -> None:
    """Of commands that show how far they are."""
    parser.add_argument("--quiet", action="store_true", help="do not show progress and the time left")


def add_engine_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--engine",
        choices=(LOCAL, SPARK),
        help="who does the work: processes of this machine (default), or Spark (default under spark-submit)",
    )
    parser.add_argument(
        "--workers",
        type=number_of_workers,
        metavar="N",
        help="how many processes the local engine has (default: one a core, fewer where memory is short)",
    )


def wanted_engine(arguments: argparse.Namespace) -> str:
    """Who started the command decides, where no flag does."""
    return str(arguments.engine or (SPARK if is_submitted() else LOCAL))


def is_submitted() -> bool:
    """Set by spark-submit, for the program that it starts to find its Java."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def number_of_workers(text: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,3}", text):
        raise argparse.ArgumentTypeError(f"{text!r}, a number of processes such as 4 was expected")
    return int(text)


def add_warehouse_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--warehouse", default="warehouse", metavar="DIR", help="folder of the tables, or a URI (default: warehouse/)"
    )


def add_cluster_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cluster",
        type=cluster_name,
        metavar="NAME",
        help="the Kafka cluster; default: the one that the warehouse has",
    )


def add_format_flag(
    parser: argparse.ArgumentParser,
    default: Format = Format.TABLE,
    text: str = "an aligned table (the default), csv, or json lines",
) -> None:
    parser.add_argument(
        "--format",
        choices=[format.value for format in Format],
        default=default.value,
        help=text,
    )


def add_reader_flags(parser: argparse.ArgumentParser) -> None:
    add_warehouse_flag(parser)
    add_cluster_flag(parser)
    add_format_flag(parser)


def add_wide_flag(parser: argparse.ArgumentParser) -> None:
    """Of commands whose tables have more than fits a terminal."""
    parser.add_argument(
        "--wide", action="store_true", help="tables with all columns and full member ids; csv and json always have them"
    )


def add_report_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--report",
        metavar="DIR",
        help="folder or URI to write index.html to (default: report/; _report/ in a warehouse that is not local)",
    )


def add_at_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--at",
        metavar="T",
        help="ISO 8601 (UTC without a zone), epoch milliseconds or now; default: the newest record or snapshot",
    )


def add_as_of_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--as-of",
        metavar="T",
        help="judge as of this time: ISO 8601 (UTC without a zone), epoch milliseconds or now; default: the newest "
        "record or snapshot, of a live log now",
    )


def add_run_flags(parser: argparse.ArgumentParser, full: str) -> None:
    """`full`: what `--full` does."""
    parser.add_argument("--full", action="store_true", help=f"{full}, as if there had been no run before")
    parser.add_argument("--result-file", type=Path, metavar="FILE", help="the run's result as JSON, for programs")
    add_warehouse_flags(parser)
    add_engine_flags(parser)
    add_format_flag(parser)


def cluster_name(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise argparse.ArgumentTypeError(f"{text!r}, a name without control characters was expected")
    return text


def any_case(words: Iterable[str]) -> Callable[[str], str]:
    """One of the words in whatever case, as Kafka's tools take theirs."""
    known = {word.lower(): word for word in words}
    return lambda text: known.get(text.lower(), text)


def seconds(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?", text):
        raise argparse.ArgumentTypeError(f"{text!r}, a number of seconds was expected")
    return float(text)


def instant(text: str, now: int, flag: str = "time") -> int:
    """Epoch milliseconds of an instant: ISO 8601 (UTC without a zone), epoch milliseconds or `now`."""
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
    return (moment - EPOCH) // timedelta(milliseconds=1)


def epoch_ms(text: str, flag: str) -> int:
    # 20261121 is a date to ISO 8601: taken for milliseconds it would silently mean an hour of 1970.
    if re.fullmatch("(19|20)[0-9]{6}", text) or int(text[:20]) > LAST_MS:
        raise wrong_instant(text, flag)
    return int(text)


def as_of_micros(text: str | None, now: int) -> int | None:
    return None if text is None else instant(text, now, "--as-of") * 1000


def wrong_instant(text: str, flag: str) -> Failure:
    expected = "ISO 8601 such as 2026-11-21T03:00 or 2026-11-21, epoch milliseconds or now was expected"
    return Failure(ExitCode.USAGE, f"{flag} {text!r}: {expected}")

"""Flags that several commands share, and the parsing of times that users type (T)."""

import argparse
import os
import re
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime, time, timedelta, tzinfo
from pathlib import Path

from jobs.output.failure import Failure, say
from jobs.output.rows import Format, time_text
from jobs.output.zones import ZONES, instants, skipping
from schemas.words.exit_codes import ExitCode

NEWEST = "time of the newest record or snapshot"
FORMAT = "output as an aligned table (the default), CSV or JSON lines"
LOCAL, SPARK = "local", "spark"
# Of --tz.
OF_MACHINE = "local"
LOCK_WAIT = 600
# Of T, for help.
TIMES = (
    "ISO 8601 (in the zone of --tz if it has none), a time of day such as 05:27, yesterday, 'yesterday 05:27', "
    "'5m ago' or -5m, now, or milliseconds since 1970"
)
# What --wide shows, of commands whose tables leave something out.
EVERYTHING = "all columns, member ids, long names and texts"
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
    add_tz_flag(parser)
    add_format_flag(parser, default, text)
    add_quiet_flag(parser)


def add_wide_flag(parser: argparse.ArgumentParser, what: str = "long names and texts") -> None:
    """For commands that print tables. `what`: it shows in full."""
    parser.add_argument(
        "--wide",
        action="store_true",
        help=f"show {what} in full, in lines that may be wider than the terminal; CSV and JSON always do",
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
        help=f"{text}: {TIMES} (default: time of the newest record or snapshot)",
    )


def add_as_of_flag(parser: argparse.ArgumentParser, default: str = NEWEST) -> None:
    parser.add_argument(
        "--as-of",
        metavar="T",
        help=f"evaluate lag, expiry, verdicts and findings as of this time: {TIMES} (default: {default})",
    )


def add_tz_flag(parser: argparse.ArgumentParser, what: str = "times that you type, and of times in tables") -> None:
    parser.add_argument(
        "--tz",
        type=zone,
        metavar="ZONE",
        help=f"time zone of {what}: a name such as Europe/Berlin, or local for that of this machine (default: UTC); "
        "CSV and JSON are in UTC",
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


def zone(text: str) -> tzinfo:
    """A zone of the IANA database, or that of this machine."""
    # Here, since most commands need no zone.
    from zoneinfo import ZoneInfo

    name = name_of_machine_zone() if text == OF_MACHINE else text
    if name in ("UTC", "Etc/UTC"):
        return UTC
    # ZoneInfoNotFoundError is a KeyError. A name may also be that of a folder, such as Europe, or lead out of the
    # database.
    with suppress(KeyError, ValueError, OSError):
        return ZoneInfo(name)
    raise argparse.ArgumentTypeError(no_zone(text))


def name_of_machine_zone() -> str:
    from tzlocal import get_localzone

    # A machine without a zone is in UTC, of which it warns.
    with suppress(KeyError, ValueError, OSError), warnings.catch_warnings(action="ignore"):
        name = str(get_localzone())
        # It may have the file of a zone without its name.
        if name != OF_MACHINE:
            return name
    line = "this machine does not name its time zone; give a name such as Europe/Berlin"
    raise argparse.ArgumentTypeError(f"{OF_MACHINE!r}: {line}")


def no_zone(text: str) -> str:
    from jobs.command_line.suggestions import near

    known = zone_names()
    if not known:
        return f"{text!r}: this machine has no time zone database; install the package tzdata"
    # Many know a zone by its city only.
    cities = {name.rpartition("/")[2]: name for name in known}
    city = None if "/" in text else near(text.replace(" ", "_"), cities)
    nearest = near(text, known) if city is None else cities[city]
    meant = "" if nearest is None else f" (did you mean {nearest}?)"
    return f"{text!r}; give a time zone such as Europe/Berlin, or {OF_MACHINE} for that of this machine{meant}"


def zone_names() -> list[str]:
    from zoneinfo import available_timezones

    return sorted(available_timezones())


DURATION = re.compile(r"([0-9]{1,9}) ?([smhdw]) ?")
# A day is 24 hours, also where clocks are changed.
UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
AGO = re.compile(rf"-(?P<before>({DURATION.pattern})+)|(?P<ago>({DURATION.pattern})+)ago")
CLOCK = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?"
ON_A_DAY = re.compile(rf"(?P<yesterday>yesterday)( (?P<then>{CLOCK}))?|(?P<clock>{CLOCK})")


def instant(text: str, now: int, flag: str = "time") -> int:
    """Milliseconds since 1970 of a time as people type it. `now`: that of `now`, `5m ago` and `yesterday`, in the same
    unit; `05:27` is not after it."""
    if re.fullmatch("[0-9]+", text):
        return epoch_ms(text, flag)
    try:
        milliseconds = (moment_of(text, EPOCH + timedelta(milliseconds=now), flag) - EPOCH) // timedelta(milliseconds=1)
    except (ValueError, OverflowError):
        raise wrong_instant(text, flag) from None
    # At either end of the calendar, a time of another zone may have no year in UTC.
    if not FIRST_MS <= milliseconds <= LAST_MS:
        raise wrong_instant(text, flag)
    return milliseconds


def moment_of(text: str, now: datetime, flag: str) -> datetime:
    if text == "now":
        return now
    if before := AGO.fullmatch(text):
        each = DURATION.findall(before["before"] or before["ago"])
        return now - sum((timedelta(**{UNITS[unit]: int(number)}) for number, unit in each), timedelta())
    if day := ON_A_DAY.fullmatch(text):
        today = now.astimezone(ZONES.people).date()
        wall = datetime.combine(today, time.fromisoformat(day["then"] or day["clock"] or "00:00"))
        if day["yesterday"] or wall.replace(tzinfo=ZONES.people).astimezone(UTC) > now:
            wall -= timedelta(days=1)
    elif (wall := datetime.fromisoformat(text)).tzinfo is not None:
        return wall
    return shown_by_clocks(wall, text, flag)


def shown_by_clocks(wall: datetime, text: str, flag: str) -> datetime:
    """When clocks of the zone of --tz show this time. In the hour that comes twice it is the earlier time."""
    where = ZONES.people
    found = instants(wall, where)
    if not found:
        before, after = (clock_at(each, wall) for each in skipping(wall, where))
        line = f"{clock_at(wall, wall)} does not exist on {wall:%Y-%m-%d} in {where}"
        raise Failure(ExitCode.USAGE, f"{flag} {text!r}: {line}: the clock goes from {before} to {after}")
    if len(found) > 1:
        first, second = (each.astimezone(where).isoformat() for each in found)
        say(f"{flag} {text}: comes twice in {where}; {first} is used, not {second}")
    return found[0]


def clock_at(each: datetime, wall: datetime) -> str:
    """With the date if it is of another day."""
    clock = f"{each:%H:%M:%S}".removesuffix(":00")
    return clock if each.date() == wall.date() else f"{each:%Y-%m-%d} {clock}"


def epoch_ms(text: str, flag: str) -> int:
    # ISO 8601 reads 20261121 as a date. Read as milliseconds it would silently mean a time in 1970.
    if re.fullmatch("(19|20)[0-9]{6}", text) or int(text[:20]) > LAST_MS:
        raise wrong_instant(text, flag)
    return int(text)


def with_full_as_of(arguments: argparse.Namespace, now: int) -> argparse.Namespace:
    """The flags of a run with --as-of in full: all its steps take it for the same. `now`: the start of the run."""
    if arguments.as_of is None:
        return arguments
    as_of = time_text(EPOCH + timedelta(milliseconds=instant(arguments.as_of, now, "--as-of")))
    return argparse.Namespace(**{**vars(arguments), "as_of": as_of})


def as_of_micros(text: str | None, now: int) -> int | None:
    return None if text is None else instant(text, now, "--as-of") * 1000


def wrong_instant(text: str, flag: str) -> Failure:
    expected = (
        "give ISO 8601 such as 2026-11-21T03:00 or 2026-11-21, a time of day such as 05:27, yesterday, "
        "'yesterday 05:27', '5m ago' or -5m (units s, m, h, d, w), now, or milliseconds since 1970"
    )
    return Failure(ExitCode.USAGE, f"{flag} {text!r}: {expected}")

"""What people type as values of flags: numbers, times (T), time zones, spans of offsets, and groups by patterns."""

import argparse
import re
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo
from functools import partial
from typing import Any

from jobs.output.failure import Failure, misuse, say
from jobs.output.rows import time_text
from jobs.output.zones import ZONES, instants, skipping
from schemas.words.history import GroupState
from schemas.words.records import GroupType

# Of --tz.
OF_MACHINE = "local"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_MS = (datetime.min.replace(tzinfo=UTC) - EPOCH) // timedelta(milliseconds=1)
LAST_MS = (datetime(9999, 12, 31, 23, 59, 59, 999_000, UTC) - EPOCH) // timedelta(milliseconds=1)


def cluster_name(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise argparse.ArgumentTypeError(f"{text!r}; give a name without control characters")
    return text


def any_case(text: str, words: Iterable[str]) -> str:
    """One of the words, in upper or lower case, as Kafka's tools accept theirs."""
    return {word.lower(): str(word) for word in words}.get(text.lower(), text)


group_type, group_state = (partial(any_case, words=words) for words in (GroupType, GroupState))


def whole(text: str, expected: str, least: int = 0, most: int = 2**31 - 1) -> int:
    # A long number is refused before Python reads it, which takes a time that grows with its square.
    if not re.fullmatch("[0-9]{1,20}", text) or not least <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"{text!r}; give {expected}")
    return int(text)


partition = partial(whole, expected="a partition number such as 12")
number_of_workers = partial(whole, expected="a number of processes such as 4", least=1, most=9999)
mark_number = partial(whole, expected="a number that groupscope mark --list shows", least=1)
# Far more than any group has: a larger number is a typing error.
number_of_members = partial(whole, expected="a number from 1 to 100000", least=1, most=100_000)


def page_bytes(text: str) -> int:
    # A page without any group has 300 kB: style, script, and tables about the cluster.
    return whole(text, "a number of bytes from 500000 on", 500_000)


def topic_number(text: str) -> tuple[str, int]:
    topic, equals, count = text.rpartition("=")
    if not equals or not topic:
        raise argparse.ArgumentTypeError(f"{text!r}; give TOPIC=N, such as orders=24")
    return topic, whole(count, "a number from 1 on", 1)


def release(text: str) -> str:
    # Here, since only one command needs it.
    from udfs.assignors.questions import SpecError, Value, read_release

    try:
        read_release(Value("", text))
    except SpecError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def term(text: str) -> timedelta:
    match = re.fullmatch("([1-9][0-9]{0,4})([dh])", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r}; give a number of days or hours, such as 400d or 36h")
    return timedelta(**{UNITS[match[2]]: int(match[1])})


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
    from udfs.sentences.suggestions import near

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
        raise misuse(f"{flag} {text!r}: {line}: the clock goes from {before} to {after}")
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
    return misuse(f"{flag} {text!r}: {expected}")


@dataclass(frozen=True)
class Span:
    """`to_offset` is the offset after the last message."""

    topic: str
    partition: int
    from_offset: int
    to_offset: int
    num_rows_written: int | None = None

    def __str__(self) -> str:
        return f"{self.topic}:{self.partition}:{self.from_offset}:{self.to_offset}"


def span(text: str) -> Span:
    topic, *numbers = text.split(":")
    is_number = [re.fullmatch("-?[0-9]{1,30}", each) for each in numbers]
    if len(numbers) not in (3, 4) or not re.fullmatch("[A-Za-z0-9._-]{1,249}", topic) or not all(is_number):
        expected = "give TOPIC:PARTITION:FROM:TO[:ROWS], such as orders:3:1200:1500:298"
        raise argparse.ArgumentTypeError(f"{text!r}; {expected}")
    partition, from_offset, to_offset, *rows = map(int, numbers)
    largest = {"PARTITION": 2**31 - 1, "FROM": 2**63 - 1, "TO": 2**63 - 1, "ROWS": 2**63 - 1}
    for (name, most), value in zip(largest.items(), (partition, from_offset, to_offset, *rows), strict=False):
        if not 0 <= value <= most:
            raise argparse.ArgumentTypeError(f"{text!r}: {name} is {value}; give a number from 0 to {most}")
    if from_offset >= to_offset:
        line = f"{text!r}: FROM is {from_offset} and TO {to_offset}; give a TO above FROM"
        raise argparse.ArgumentTypeError(f"{line}: TO is the offset after the last message")
    return Span(topic, partition, from_offset, to_offset, *rows)


@dataclass(frozen=True)
class GroupChoice:
    """The groups that `--group` and `--exclude-group` choose: regular expressions that may match anywhere in an id."""

    group: str | None = None
    exclude_group: str | None = None

    def has(self, group_id: str | None) -> bool:
        """True without a group: what is about no group is about all."""
        if group_id is None:
            return True
        is_wanted = self.group is None or re.search(self.group, group_id) is not None
        return is_wanted and not (self.exclude_group is not None and re.search(self.exclude_group, group_id))

    def rows(self, rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        return [row for row in rows if self.has(row.get("group_id"))]

    @property
    def words(self) -> str | None:
        parts = [
            None if self.group is None else f"groups that match {self.group}",
            None if self.exclude_group is None else f"without groups that match {self.exclude_group}",
        ]
        return ", ".join(filter(None, parts)) or None

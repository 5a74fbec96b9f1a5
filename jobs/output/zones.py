"""The time zone in which people type and read times (--tz), and what its clocks show where they are changed.

Delta tables, CSV and JSON are in UTC, whatever the zone.
"""

from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo


@dataclass
class Zones:
    # Of times that people type, and of the report.
    people: tzinfo = UTC
    # Of times that the command prints: UTC in CSV and JSON.
    printed: tzinfo = UTC


ZONES = Zones()


@contextmanager
def in_zone(people: tzinfo, printed: tzinfo | None = None) -> Iterator[None]:
    """`printed`: None: the same."""
    before = ZONES.people, ZONES.printed
    ZONES.people, ZONES.printed = people, people if printed is None else printed
    try:
        yield
    finally:
        ZONES.people, ZONES.printed = before


def local_time(value: datetime, zone: tzinfo | None = None) -> datetime:
    """As clocks of the zone show it; None: of the printed one. Times without a zone are UTC."""
    aware = value if value.tzinfo else value.replace(tzinfo=UTC)
    try:
        return aware.astimezone(ZONES.printed if zone is None else zone)
    except OverflowError:
        # At either end of the calendar there may be no such year in the zone.
        return aware.astimezone(UTC)


def with_zone(text: str, more: str = "") -> str:
    """A printed time, with the name of its zone unless that is UTC. `more`: to be said beside the name."""
    return text if ZONES.printed is UTC else f"{text} ({ZONES.printed}{more})"


def instants(wall: datetime, zone: tzinfo) -> list[datetime]:
    """When clocks of the zone show this time: once, but twice or never where they are changed, and never where the time
    has no year in UTC."""
    with suppress(OverflowError):
        found = {wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)}
        return sorted(each for each in found if each.astimezone(zone).replace(tzinfo=None) == wall)
    return []


def is_repeated(local: datetime) -> bool:
    """Whether the zone's clocks show this time twice."""
    return local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()


def skipping(wall: datetime, zone: tzinfo) -> tuple[datetime, datetime]:
    """For a time that clocks of the zone never show: what they show before and after the change that skips it."""
    # The offset after the change makes an instant before it, and the other way round.
    second = wall.replace(microsecond=0)
    low, high = sorted(second.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    offset = low.astimezone(zone).utcoffset() or timedelta()
    seconds = range(1, (high - low) // timedelta(seconds=1) + 1)
    place = bisect_left(
        seconds, True, key=lambda each: (low + timedelta(seconds=each)).astimezone(zone).utcoffset() != offset
    )
    change = low + timedelta(seconds=seconds[place])
    return (change + offset).replace(tzinfo=None), change.astimezone(zone).replace(tzinfo=None)


def moved(time: datetime, by: timedelta) -> datetime:
    """No further than the first or the last time that there is: records may have any time."""
    try:
        return time + by
    except OverflowError:
        return (datetime.max if by > timedelta() else datetime.min).replace(tzinfo=time.tzinfo)

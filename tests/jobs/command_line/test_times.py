"""Times as people type them, in zones whose clocks are changed. Expected times are written by hand, in UTC, or found by
a walk over every minute."""

import argparse
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from jobs import cli
from jobs.command_line.values import instant, with_full_as_of, zone
from jobs.output.failure import Failure
from jobs.output.zones import in_zone
from schemas.words.exit_codes import ExitCode

# A Saturday.
NOW = "2026-11-21T17:04:05.123+00:00"


def ms(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def typed(text: str, zone: str, now: str = NOW) -> str:
    with in_zone(ZoneInfo(zone)):
        milliseconds = instant(text, ms(now), "--at")
    return (datetime(1970, 1, 1) + timedelta(milliseconds=milliseconds)).isoformat(timespec="milliseconds")


@pytest.mark.parametrize(
    ("text", "utc", "berlin"),
    [
        ("now", "2026-11-21T17:04:05.123", None),
        ("5m ago", "2026-11-21T16:59:05.123", None),
        ("2h 5m ago", "2026-11-21T14:59:05.123", None),
        ("2h5m30s ago", "2026-11-21T14:58:35.123", None),
        ("-5m", "2026-11-21T16:59:05.123", None),
        ("-1d 12h", "2026-11-20T05:04:05.123", None),
        ("1w ago", "2026-11-14T17:04:05.123", None),
        ("05:27", "2026-11-21T05:27:00.000", "2026-11-21T04:27:00.000"),
        # The newest that is not later than now, to the second.
        ("17:04:05", "2026-11-21T17:04:05.000", "2026-11-21T16:04:05.000"),
        ("17:04:06", "2026-11-20T17:04:06.000", "2026-11-21T16:04:06.000"),
        ("18:04:05.124", "2026-11-20T18:04:05.124", "2026-11-20T17:04:05.124"),
        ("yesterday", "2026-11-20T00:00:00.000", "2026-11-19T23:00:00.000"),
        ("yesterday 05:27", "2026-11-20T05:27:00.000", "2026-11-20T04:27:00.000"),
        ("yesterday 23:59:59", "2026-11-20T23:59:59.000", "2026-11-20T22:59:59.000"),
        ("2026-11-21", "2026-11-21T00:00:00.000", "2026-11-20T23:00:00.000"),
        ("2026-07-21T05:27", "2026-07-21T05:27:00.000", "2026-07-21T03:27:00.000"),
        ("2026-07-21T05:27Z", "2026-07-21T05:27:00.000", None),
        ("2026-07-21T05:27+05:30", "2026-07-20T23:57:00.000", None),
        ("1795280645123", "2026-11-21T17:04:05.123", None),
        # By `date -u -d TEXT +%s`.
        ("0", "1970-01-01T00:00:00.000", None),
        ("2026-11-21 03:00:00Z", "2026-11-21T03:00:00.000", None),
        ("2026-11-21T03:00:00.123456+02:00", "2026-11-21T01:00:00.123", None),
        ("1969-12-31T23:59:59.9999Z", "1969-12-31T23:59:59.999", None),
        ("20261121T030000Z", "2026-11-21T03:00:00.000", None),
        ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999", None),
        ("253402300799999", "9999-12-31T23:59:59.999", None),
    ],
)  # fmt: skip
def test_a_time_is_typed_in_the_zone(text: str, utc: str, berlin: str | None) -> None:
    assert typed(text, "UTC") == utc
    assert typed(text, "Europe/Berlin") == (berlin or utc)


def test_the_day_of_yesterday_is_that_of_the_zone() -> None:
    """In Kolkata it is already Sunday at 20:00 UTC."""
    saturday_evening = "2026-11-21T20:00:00+00:00"
    assert typed("yesterday 05:27", "Asia/Kolkata", saturday_evening) == "2026-11-20T23:57:00.000"
    assert typed("yesterday 05:27", "America/New_York", saturday_evening) == "2026-11-20T10:27:00.000"
    assert typed("01:29", "Asia/Kolkata", saturday_evening) == "2026-11-21T19:59:00.000"


@pytest.mark.parametrize(
    ("zone", "text", "expected", "later"),
    [
        ("Europe/Berlin", "2026-10-25T02:30", "2026-10-25T00:30:00.000", "2026-10-25T02:30:00+01:00"),
        ("America/New_York", "2026-11-01T01:00", "2026-11-01T05:00:00.000", "2026-11-01T01:00:00-05:00"),
        # Half an hour.
        ("Australia/Lord_Howe", "2026-04-05T01:59", "2026-04-04T14:59:00.000", "2026-04-05T01:59:00+10:30"),
    ],
)
def test_of_a_time_that_comes_twice_the_earlier_one_is_used_and_named(
    zone: str, text: str, expected: str, later: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert typed(text, zone) == expected
    said = capfd.readouterr().err
    assert said.startswith(f"groupscope: --at {text}: comes twice in {zone}; ")
    assert said.endswith(f" is used, not {later}\n") and said.count("\n") == 1
    assert typed(later, zone) > expected


@pytest.mark.parametrize(
    ("zone", "text", "line"),
    [
        ("Europe/Berlin", "2026-03-29T02:30", "02:30 does not exist on 2026-03-29 in Europe/Berlin: the clock goes "
         "from 02:00 to 03:00"),
        ("America/New_York", "2026-03-08 02:00:01", "02:00:01 does not exist on 2026-03-08 in America/New_York: the "
         "clock goes from 02:00 to 03:00"),
        ("Australia/Lord_Howe", "2026-10-04T02:29:59.999", "02:29:59 does not exist on 2026-10-04 in "
         "Australia/Lord_Howe: the clock goes from 02:00 to 02:30"),
        # Samoa skipped a day.
        ("Pacific/Apia", "2011-12-30T05:00", "05:00 does not exist on 2011-12-30 in Pacific/Apia: the clock goes from "
         "00:00 to 2011-12-31 00:00"),
    ],
)  # fmt: skip
def test_a_time_that_never_comes_is_refused_with_those_around_it(zone: str, text: str, line: str) -> None:
    with pytest.raises(Failure) as failure:
        typed(text, zone)
    assert (failure.value.code, str(failure.value)) == (ExitCode.USAGE, f"--at {text!r}: {line}")


def test_a_time_of_day_that_comes_never_or_twice_is_that_of_its_day() -> None:
    with pytest.raises(Failure, match="02:30 does not exist on 2026-03-29"):
        typed("02:30", "Europe/Berlin", "2026-03-29T12:00:00+00:00")
    # The clock has not come to the change yet.
    assert typed("02:30", "Europe/Berlin", "2026-03-29T00:10:00+00:00") == "2026-03-28T01:30:00.000"
    assert typed("02:30", "Europe/Berlin", "2026-10-25T12:00:00+00:00") == "2026-10-25T00:30:00.000"


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("Europe/Berlin", date(2026, 3, 29)), ("Europe/Berlin", date(2026, 10, 25)),
        ("America/New_York", date(2026, 3, 8)), ("America/New_York", date(2026, 11, 1)),
        ("Asia/Kolkata", date(2026, 3, 29)),
        ("Australia/Lord_Howe", date(2026, 4, 5)), ("Australia/Lord_Howe", date(2026, 10, 4)),
    ],
)  # fmt: skip
def test_every_minute_is_when_a_clock_first_shows_it(name: str, day: date) -> None:
    """The clock is looked at each minute: that is all that the walk does."""
    where = ZoneInfo(name)
    shown: dict[str, str] = {}
    for minute in range(-24 * 60, 48 * 60):
        utc = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(minutes=minute)
        shown.setdefault(f"{utc.astimezone(where):%Y-%m-%dT%H:%M}", f"{utc:%Y-%m-%dT%H:%M}:00.000")
    for minute in range(24 * 60):
        text = f"{day}T{minute // 60:02}:{minute % 60:02}"
        if text in shown:
            assert typed(text, name) == shown[text]
        else:
            with pytest.raises(Failure, match="does not exist"):
                typed(text, name)


@pytest.mark.parametrize("text", ["9" * 9999, "-"])
def test_what_is_no_time_gets_one_line_with_the_forms(text: str) -> None:
    with pytest.raises(Failure, match=r"^--at .*: give ISO 8601 such as .* or milliseconds since 1970$") as failure:
        typed(text, "Europe/Berlin")
    assert failure.value.code == ExitCode.USAGE


@pytest.fixture
def unknown_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    import tzlocal.unix

    monkeypatch.setattr(tzlocal.unix, "_cache_tz", None)
    yield monkeypatch


@pytest.mark.parametrize("setting", ["Asia/Kolkata", ":Asia/Kolkata"])
def test_local_is_the_zone_of_the_machine(unknown_machine: pytest.MonkeyPatch, setting: str) -> None:
    unknown_machine.setenv("TZ", setting)
    assert zone("local") == ZoneInfo("Asia/Kolkata")


def test_a_machine_that_does_not_name_its_zone_is_refused(unknown_machine: pytest.MonkeyPatch) -> None:
    unknown_machine.setenv("TZ", "CET-1CEST")
    with pytest.raises(argparse.ArgumentTypeError, match="'local': this machine does not name its time zone; give a"):
        zone("local")


def test_without_a_database_of_zones_the_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zoneinfo.ZoneInfo", no_such_zone)
    monkeypatch.setattr("zoneinfo.available_timezones", set)
    with pytest.raises(argparse.ArgumentTypeError, match="no time zone database; install the package tzdata"):
        zone("Europe/Berlin")
    # That needs none.
    assert zone("UTC") is UTC


def no_such_zone(name: str) -> None:
    raise KeyError(name)


def test_a_run_has_one_as_of_time() -> None:
    full = with_full_as_of(argparse.Namespace(as_of="2h ago", since="2h ago"), ms(NOW))
    assert (full.as_of, full.since) == ("2026-11-21T15:04:05.123Z", "2h ago")
    assert with_full_as_of(argparse.Namespace(as_of=None), ms(NOW)).as_of is None


@pytest.mark.parametrize("words", [("--at", "-5m"), ("--at=-5m",), ("--at", "-1d 12h")])
def test_a_time_before_now_may_follow_its_flag(words: tuple[str, ...]) -> None:
    parser, commands = cli.parsers("why")
    assert parser.parse_args(["why", *words, "billing"]).at == words[-1].removeprefix("--at=")
    # A name that begins with a hyphen is still refused without `--`.
    with pytest.raises(Failure):
        parser.parse_args(["why", "-b"])
    assert "why" in commands.choices

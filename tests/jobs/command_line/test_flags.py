"""Flags that commands share, and instants as users write them."""

import argparse

import pytest

from jobs.cli import Parser
from jobs.command_line.flags import add_arguments
from jobs.command_line.values import instant
from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode

NOW = 1_795_280_645_123


def parsed(*words: str) -> argparse.Namespace:
    parser = Parser(prog="test")
    add_arguments(parser, "replay")
    return parser.parse_args(words)


def test_flags_have_the_defaults_of_the_contract() -> None:
    flags = parsed()
    assert (flags.warehouse, flags.cluster, flags.config, flags.lock_wait) == ("warehouse", None, None, 600)
    assert flags.format == "table"


@pytest.mark.parametrize(
    ("text", "expected"),
    # Expected values by `date -u -d TEXT +%s`.
    [
        ("now", NOW),
        ("0", 0),
        ("1795280645123", 1_795_280_645_123),
        ("2026-11-21", 1_795_219_200_000),
        ("2026-11-21T03:00", 1_795_230_000_000),
        ("2026-11-21 03:00:00Z", 1_795_230_000_000),
        ("2026-11-21T03:00:00.123456+02:00", 1_795_222_800_123),
        ("1969-12-31T23:59:59.9999Z", -1),
        ("20261121T030000Z", 1_795_230_000_000),
        ("9999-12-31T23:59:59.999", 253_402_300_799_999),
        ("253402300799999", 253_402_300_799_999),
    ],
)
def test_an_instant_is_iso_8601_or_epoch_milliseconds_or_now(text: str, expected: int) -> None:
    assert instant(text, NOW) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "tomorrow", "03:60", "20261121", "253402300800000", "9" * 9999, "-1", "2026-13-01", "2026-11-21T25:00",
        "٣",
        # Of these years only where they were written.
        "9999-12-31T23:59:59-12:00", "0001-01-01T00:00+12:00",
    ],
)  # fmt: skip
def test_what_is_no_instant_is_refused_with_what_was_expected(text: str) -> None:
    with pytest.raises(Failure, match="ISO 8601 such as") as failure:
        instant(text, NOW, "--at")
    assert failure.value.code == ExitCode.USAGE
    assert str(failure.value).startswith(f"--at {text!r}")

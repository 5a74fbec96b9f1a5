"""Rows as text: exact for programs, harmless for terminals."""

import csv
import io
import json
import os
import shlex
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pyspark.sql import Row

from jobs.output.rows import Format, clock_text, row_lines, time_text
from jobs.output.zones import in_zone

ROOT = Path(__file__).parents[3]
# What a terminal acts on: escape sequences, in 7 and in 8 bits, and marks that turn text around.
HOSTILE = "a\x1b[2J\x9b31m\u202e\x00\x7f\n\u2028b\\"
MOMENT = datetime(2026, 11, 21, 3, 0, 0, 123_000)


def lines(format: str, names: list[str], *rows: list[Any]) -> list[str]:
    return list(row_lines(names, rows, format))


def cells(value: Any) -> tuple[str, Any]:
    """The value in CSV, as a reader of CSV understands it, and in JSON."""
    (read,) = csv.DictReader(io.StringIO("\n".join(lines("csv", ["x", "y"], [value, 1]))))
    (written,) = lines("json", ["x"], [value])
    return read["x"], json.loads(written)["x"]


def test_a_table_is_aligned_numbers_to_the_right_and_null_is_nothing() -> None:
    assert lines("table", ["name", "n", "is"], ["a", 5, True], ["long one", None, None], [None, -12, False]) == [
        "name        n  is",
        "--------  ---  -----",
        "a           5  true",
        "long one",
        "          -12  false",
    ]


def test_times_of_a_table_have_the_offset_of_the_zone_and_lists_too() -> None:
    with in_zone(ZoneInfo("America/New_York")):
        assert lines("table", ["x", "y"], [MOMENT, 1])[-1].split() == ["2026-11-20T22:00:00.123-05:00", "1"]
    with in_zone(ZoneInfo("Europe/London")):
        # As wide as in summer.
        assert lines("table", ["x", "y"], [MOMENT, 1])[-1].split() == ["2026-11-21T03:00:00.123+00:00", "1"]
    with in_zone(ZoneInfo("Asia/Kolkata")):
        assert time_text(datetime.max) == "9999-12-31T23:59:59.999999Z"


def test_a_clock_has_its_date_on_another_day_of_the_zone_and_its_offset_in_another_season() -> None:
    evening, late = datetime(2026, 10, 24, 21, 30, tzinfo=UTC), datetime(2026, 10, 24, 22, 30, tzinfo=UTC)
    assert clock_text(evening, late) == "21:30:00"
    with in_zone(ZoneInfo("Europe/Berlin")):
        assert clock_text(evening, late) == "2026-10-24T23:30:00"
        assert clock_text(late, late + timedelta(hours=1)) == "00:30:00"
        assert clock_text(late, late + timedelta(hours=9)) == "2026-10-25T00:30:00+02:00"
    assert clock_text(None, late) is None


def test_a_table_without_rows_shows_its_columns() -> None:
    assert lines("table", ["name", "n"]) == ["name  n", "----  -"]


def test_wide_letters_take_two_columns_and_marks_upon_letters_none() -> None:
    assert lines("table", ["x", "y"], ["日本", "."], ["e\u0301e", "."]) == [
        "x     y",
        "----  -",
        "日本  .",
        "e\u0301e    .",
    ]


def test_rows_beyond_those_that_were_measured_are_written_too_and_as_they_come() -> None:
    def endless() -> Any:
        while True:
            yield ["a"]

    coming = row_lines(["x"], endless(), "table")
    assert [next(coming) for _ in range(5_000)][-1] == "a"


@pytest.mark.parametrize(
    ("first", "second"),
    # A client id of Kafka Streams, the longest name that a topic may have, lists of assignments.
    [(70, 1), (249, 1), (3_000, 2_600)],
)
def test_columns_after_wide_cells_are_aligned(first: int, second: int) -> None:
    header, line, *rows = lines("table", ["x", "y"], ["a" * first, "."], ["b" * second, "."])
    assert [each.index(".") for each in rows] == [first + 2, first + 2]
    assert (header.index("y"), line) == (first + 2, "-" * first + "  -")


def test_a_long_cell_pads_no_other_row_to_its_length_and_is_whole() -> None:
    result = lines("table", ["x", "y"], ["a" * 5_000, 1], ["b", 2])
    assert result[2] == "a" * 5_000 + "  1"
    assert len(result[3]) < 100


@pytest.mark.parametrize(
    ("value", "text", "in_json"),
    [
        ("plain", "plain", "plain"),
        ('a "b", c', 'a "b", c', 'a "b", c'),
        (9_007_199_254_740_993, "9007199254740993", 9_007_199_254_740_993),
        (0.1, "0.1", 0.1),
        (float("nan"), "nan", "nan"),
        (Decimal("0.10"), "0.10", 0.1),
        (True, "true", True),
        (b"\x00\xff", "00ff", "00ff"),
        (bytearray(b"\x01"), "01", "01"),
        (MOMENT, "2026-11-21T03:00:00.123Z", "2026-11-21T03:00:00.123Z"),
        (MOMENT.replace(tzinfo=UTC), "2026-11-21T03:00:00.123Z", "2026-11-21T03:00:00.123Z"),
        (
            datetime(2026, 11, 21, 5, 0, 0, 1, timezone(timedelta(hours=2))),
            "2026-11-21T03:00:00.000001Z",
            "2026-11-21T03:00:00.000001Z",
        ),
        (date(2026, 11, 21), "2026-11-21", "2026-11-21"),
        ([1, None, "a"], '[1,null,"a"]', [1, None, "a"]),
        (
            Row(topic="t", partitions=[1], at=MOMENT),
            '{"topic":"t","partitions":[1],"at":"2026-11-21T03:00:00.123Z"}',
            {"topic": "t", "partitions": [1], "at": "2026-11-21T03:00:00.123Z"},
        ),
        ({"a": b"\x01", "b": None}, '{"a":"01","b":null}', {"a": "01", "b": None}),
        ({1: True}, '{"1":true}', {"1": True}),
        ([], "[]", []),
        (HOSTILE, HOSTILE, HOSTILE),
        ([HOSTILE], json.dumps([HOSTILE], separators=(",", ":")), [HOSTILE]),
    ],
)
def test_a_value_is_exact_in_csv_and_json(value: Any, text: str, in_json: Any) -> None:
    in_csv, from_json = cells(value)
    assert from_json == in_json
    if isinstance(value, list | dict):
        assert json.loads(in_csv) == json.loads(text)
    else:
        assert in_csv == text


def test_null_and_an_empty_text_differ_in_csv_and_json() -> None:
    assert lines("csv", ["x", "y"], [None, ""]) == ["x,y", ',""']
    assert lines("json", ["x", "y"], [None, ""]) == ['{"x":null,"y":""}']


def test_a_row_of_one_null_is_still_a_row_of_csv() -> None:
    assert list(csv.reader(lines("csv", ["x"], [None], [None]))) == [["x"], [""], [""]]


def test_two_columns_of_one_name_are_both_written() -> None:
    assert lines("json", ["x", "x"], [1, 2]) == ['{"x":1,"x":2}']


@pytest.mark.parametrize("format", [Format.TABLE, Format.JSON])
@pytest.mark.parametrize("value", [HOSTILE, [HOSTILE], {HOSTILE: HOSTILE}, Row(**{HOSTILE: HOSTILE})])
def test_nothing_that_a_terminal_acts_on_is_written_raw(format: str, value: Any) -> None:
    written = "".join(lines(format, [HOSTILE], [value]))
    assert written.isprintable()
    assert "\\x1b" in written or "\\u001b" in written


PROGRAM = """
import sys
from jobs.output.failure import run_guarded
from jobs.output.rows import print_rows
sys.exit(run_guarded(lambda: print_rows(["x"], {rows}, {format!r}) or 0, False))
"""


def printed(rows: str, format: str, redirect: str = "") -> subprocess.CompletedProcess[str]:
    program = shlex.quote(PROGRAM.format(rows=rows, format=format))
    return subprocess.run(
        ["bash", "-c", f"{sys.executable} -c {program} {redirect}"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )


def test_output_is_utf_8_whatever_the_machine_says() -> None:
    assert printed("[['日本']]", "csv").stdout == "x\n日本\n"


def test_a_reader_that_leaves_is_no_error_and_a_full_disk_is_one_line() -> None:
    gone = printed("([i] for i in range(10**6))", "json", "| head -1; exit ${PIPESTATUS[0]}")
    assert (gone.returncode, gone.stdout, gone.stderr) == (0, '{"x":0}\n', "")
    full = printed("[[1]]", "json", "> /dev/full")
    assert (full.returncode, full.stderr) == (1, "groupscope: standard output: No space left on device\n")


@pytest.mark.parametrize(
    ("value", "written"),
    # What spreadsheets run: https://owasp.org/www-community/attacks/CSV_Injection
    [
        ("=1+1", "'=1+1"),
        ("+cmd", "'+cmd"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\uff1d1", "'\uff1d1"),
        ('=HYPERLINK("x","y")', '"\'=HYPERLINK(""x"",""y"")"'),
        # Numbers are numbers, also where a text holds one.
        ("-5", "-5"),
        ("-1.5", "-1.5"),
        (-5, "-5"),
        ("a=1", "a=1"),
    ],
)
def test_no_cell_of_csv_is_a_formula(value: Any, written: str) -> None:
    assert lines("csv", ["=x"], [value]) == ["'=x", written]


WIDE = [["classic-cooperative-sticky", "range", 123_456_789, "日本語 members are not even"], ["b", "uniform", 7, None]]
NAMES = ["group_id", "assignor", "moves_from_current", "reason"]


@pytest.mark.parametrize("width", range(20, 110))
def test_a_table_fits_its_terminal_and_cuts_no_number(width: int) -> None:
    result = list(row_lines(NAMES, WIDE, "table", width=width))
    assert max(map(shown_width, result)) <= width
    text = "\n".join(result)
    assert "123456789" in text
    # What is cut is seen to be; a row that does not fit side by side is whole, column below column.
    joined = "".join(line.strip() for line in result)
    row = next(line for line in result if "clas" in line)
    assert ("classic-cooperative-sticky" in joined) != ("…" in row.split("range")[0])


def shown_width(line: str) -> int:
    """As terminals count: https://www.unicode.org/reports/tr11/."""
    return sum(2 if "\u2e80" <= char <= "\u9fff" else 1 for char in line)


def test_a_row_with_too_many_columns_is_shown_column_below_column() -> None:
    assert list(row_lines(["group_id", "n"], [["a" * 30, 1], ["b", 2]], "table", width=20)) == [
        "group_id           n",
        "-----------------  -",
        "aaaaaaaa…aaaaaaaa  1",
        "b                  2",
    ]
    names = [f"column_{n}" for n in range(5)]
    assert list(row_lines(names, [["x", 1, None, "y" * 30, "a b c"], [""] * 5], "table", width=20)) == [
        "column_0: x",
        "column_1: 1",
        "column_2:",
        "column_3:",
        "  " + "y" * 18,
        "  " + "y" * 12,
        "column_4: a b c",
        "",
        *(f"{name}:" for name in names),
    ]

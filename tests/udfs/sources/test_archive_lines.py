"""Lines of JSON archives, each one a record or kept with the reason why it is none."""

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from udfs.sources.archive_line_columns import usual_rows
from udfs.sources.archive_lines import LINE_ROWS, folder_columns, line_row, line_rows

GOOD: dict[str, Any] = {
    "topic": "__consumer_offsets",
    "partition": 3,
    "offset": 12,
    "timestamp": 1_700_000_000_123,
    "key": "AAEAAWcAAXQAAAAD",
    "value": None,
}
FULL = GOOD | {
    "producer_id": 5,
    "producer_epoch": 2,
    "is_transactional": True,
    "is_control": False,
    "leader_epoch": 9,
}


def rows_of(*lines: bytes, file: str = "/in/a.json") -> list[dict[str, Any]]:
    rows = line_rows(pa.array(lines, pa.binary()), pa.array([file] * len(lines), pa.string()))
    return list(rows.to_pylist())


def row_of(fields: object, file: str = "/in/a.json") -> dict[str, Any]:
    (row,) = rows_of(json.dumps(fields).encode(), file=file)
    return row


def test_a_line_becomes_a_row() -> None:
    assert row_of(FULL) == {
        "partition": 3, "offset": 12, "timestamp_ms": 1_700_000_000_123,
        "key": bytes.fromhex("000100016700017400000003"), "value": None,
        "producer_id": 5, "producer_epoch": 2, "is_transactional": True, "is_control": False, "leader_epoch": 9,
        "has_producers": True, "source_file": "/in/a.json", "raw": None, "problem": None, "problem_field": None,
        "problem_detail": None, "is_other_topic": False,
    }  # fmt: skip
    assert not row_of(GOOD)["has_producers"]


def test_blank_lines_are_none_and_other_topics_are_only_marked() -> None:
    other = json.dumps({"topic": "t\ud800", "partition": "none"}).encode()
    (row,) = rows_of(b"", b"  \t", other, b"\r")
    assert row["is_other_topic"] is True
    assert row["problem"] is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2023-11-14T22:13:20Z", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ("2023-11-14T22:13:20.123Z", datetime(2023, 11, 14, 22, 13, 20, 123_000, tzinfo=UTC)),
        ("2023-11-14 22:13:20,5", datetime(2023, 11, 14, 22, 13, 20, 500_000, tzinfo=UTC)),
        ("2023-11-14T22:13", datetime(2023, 11, 14, 22, 13, tzinfo=UTC)),
        ("2023-11-15T00:13:20.123456789+02:00", datetime(2023, 11, 14, 22, 13, 20, 123_000, tzinfo=UTC)),
        ("2023-11-14T16:43:20-0530", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ("1969-12-31T23:59:59.999Z", datetime(1969, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
        ("2024-02-29T00:00:00Z", datetime(2024, 2, 29, tzinfo=UTC)),
    ],
)
def test_times_of_iso_8601(text: str, expected: datetime) -> None:
    ms = (expected - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    assert row_of(GOOD | {"timestamp": text})["timestamp_ms"] == ms


@pytest.mark.parametrize(("given", "expected"), [(None, None), (-1, -1), ("1700000000123", 1_700_000_000_123)])
def test_times_in_milliseconds(given: object, expected: int | None) -> None:
    row = row_of(GOOD | {"timestamp": given})
    assert (row["timestamp_ms"], row["problem"]) == (expected, None)


def test_bytes_are_those_that_base64_wrote(rng: np.random.Generator) -> None:
    for size in (0, 1, 2, 3, 56, 57, 58, 500):
        raw = rng.bytes(size)
        plain = base64.b64encode(raw).decode()
        # What java.util.Base64's MIME encoder writes, and with it Spark's base64 function before 4.0.
        mime = base64.encodebytes(raw).decode().rstrip("\n").replace("\n", "\r\n")
        for text in (plain, mime):
            row = row_of(GOOD | {"key": text, "value": text})
            assert (row["key"], row["value"], row["problem"]) == (raw, raw, None)


@pytest.mark.parametrize(
    "text",
    [
        "A",
        "QQ",
        "QQ=",
        "QR==",
        "QUJD=",
        "QUI=QUI=",
        "Q-_D",
        "QU JD",
        "QUJD\n",
        "QUJD\r\nQUJD",
        "QUJDé",
        "=",
        "QUJ\x00D",
    ],
)
def test_what_only_resembles_base64_is_kept_as_it_stands(text: str) -> None:
    line = json.dumps(GOOD | {"value": text}).encode()
    (row,) = rows_of(line)
    assert (row["problem"], row["problem_field"], row["raw"]) == ("bad_base64", "value", line)
    assert (row["partition"], row["offset"], row["value"]) == (3, 12, None)


@pytest.mark.parametrize(
    ("line", "detail"),
    [
        (b"{", "Expecting property name enclosed in double quotes at character 1"),
        (b'{"topic": "__consumer_offsets"} {}', "Extra data at character 32"),
        (b"[1]", "[1], an object expected"),
        (b"null", "null, an object expected"),
        (b'{"topic": "\xff"}', "byte 0xff at position 11 of the line is not UTF-8"),
        (b"[" * 100_000, "maximum recursion depth"),
        (b'{"offset": ' + b"9" * 5_000 + b"}", "Exceeds the limit"),
    ],
)
def test_a_line_that_is_no_object_is_kept_as_it_stands(line: bytes, detail: str) -> None:
    (row,) = rows_of(line)
    assert (row["problem"], row["problem_field"], row["raw"]) == ("bad_json", None, line)
    assert row["problem_detail"].startswith(detail)


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ({"topic": None}, "null or missing"),
        ({"topic": 7}, "7, a string expected"),
        ({"partition": None}, "null or missing"),
        ({"partition": -1}, "-1, an integer from 0 to 2147483647 expected"),
        ({"partition": 2**31}, "2147483648, an integer from 0 to 2147483647 expected"),
        ({"offset": None}, "null or missing"),
        ({"offset": 1.0}, "1.0, an integer from 0 to 9223372036854775807 expected"),
        ({"offset": True}, "true, an integer from 0 to 9223372036854775807 expected"),
        ({"offset": "12x"}, '"12x", an integer from 0 to 9223372036854775807 expected'),
        ({"offset": 2**63}, "9223372036854775808, an integer from 0 to 9223372036854775807 expected"),
        ({"timestamp": "yesterday"}, '"yesterday", milliseconds since 1970 or ISO 8601 expected'),
        ({"timestamp": "2023-02-30T00:00:00Z"}, '"2023-02-30T00:00:00Z", milliseconds since 1970 or ISO 8601 expected'),
        ({"timestamp": 1.5}, "1.5, milliseconds since 1970 or ISO 8601 expected"),
        ({"timestamp": 2**63}, "9223372036854775808, milliseconds since 1970 or ISO 8601 expected"),
        ({"key": {"a": 1}}, '{"a": 1}, a string in base64 expected'),
        ({"producer_id": -2}, "-2, an integer from -1 to 9223372036854775807 expected"),
        ({"producer_id": None}, "null although is_transactional is true: the record needs one"),
        ({"producer_epoch": 2**15}, "32768, an integer from -1 to 32767 expected"),
        ({"is_transactional": "true"}, '"true", true or false expected'),
        ({"is_control": 0}, "0, true or false expected"),
        ({"leader_epoch": 2**31}, "2147483648, an integer from -1 to 2147483647 expected"),
    ],
)
def test_a_field_that_is_not_what_it_must_be_is_named(change: dict[str, Any], detail: str) -> None:
    row = row_of(FULL | change)
    assert (row["problem"], row["problem_field"], row["problem_detail"]) == ("bad_column", *change, detail)
    assert json.loads(row["raw"]) == FULL | change


def test_folders_have_what_lines_leave_out() -> None:
    lines = {name: value for name, value in GOOD.items() if name not in {"topic", "partition"}}
    row = row_of(lines, "/in/topic=__consumer_offsets/partition=4/a.json")
    assert (row["partition"], row["problem"]) == (4, None)
    assert row_of(lines, "/in/topic=orders/partition=4/a.json")["is_other_topic"]
    assert row_of(lines, "/in/topic=__consumer_offsets/partition=x/a.json")["problem_field"] == "partition"
    assert row_of(GOOD, "/in/partition=4/a.json")["partition"] == 3


def test_one_bad_line_costs_no_other() -> None:
    lines = [json.dumps(GOOD | {"offset": offset}).encode() for offset in range(10)]
    lines[4] = lines[4][:-9]
    rows = rows_of(*lines)
    assert [row["offset"] for row in rows] == [0, 1, 2, 3, None, 5, 6, 7, 8, 9]
    assert [row["problem"] for row in rows if row["problem"]] == ["bad_json"]


ODD = [
    None, True, 0, -1, 2**15, 2**31, 2**63, 1.0, "", "7", "QUJD", "QUI", "2023-11-14T22:13:20.123Z",
    "2023-02-30T00:00:00.000Z", "2023-11-14T22:13:20Z", "__consumer_offsets", "orders", "\ud800", [], {},
]  # fmt: skip


def test_lines_read_together_give_what_each_gives_alone(rng: np.random.Generator) -> None:
    """Column by column where nothing is unusual, else line by line: one odd value must not show in the others."""
    files = ["/in/a.json", "/in/topic=__consumer_offsets/partition=4/b.json"]
    num_unusual = 0
    for _ in range(300):
        whole = []
        for offset in range(int(rng.integers(0, 6))):
            fields = (FULL if rng.random() < 0.5 else GOOD) | {"offset": offset}
            if rng.random() < 0.2:
                fields = fields | {str(rng.choice(list(FULL))): ODD[int(rng.integers(len(ODD)))]}
            if rng.random() < 0.2:
                del fields[str(rng.choice(list(fields)))]
            whole.append((json.dumps(fields).encode(), files[int(rng.integers(2))]))
        together = line_rows(
            pa.array([line for line, _ in whole], pa.binary()), pa.array([file for _, file in whole], pa.string())
        )
        alone = [
            {**dict.fromkeys(LINE_ROWS.names), **line_row(line, file, folder_columns(file))} for line, file in whole
        ]
        assert together.to_pylist() == alone
        assert together.schema == LINE_ROWS
        num_unusual += any(row["problem"] for row in alone)
    assert 30 < num_unusual < 270


@pytest.mark.parametrize("change", [{}, {"timestamp": "2023-11-14T22:13:20.123Z"}, {"key": None, "producer_id": -1}])
def test_what_is_usual_is_read_by_columns(change: dict[str, Any]) -> None:
    columns = usual_rows([json.dumps(FULL | change).encode()] * 3, [{}] * 3)
    assert columns["offset"].to_pylist() == [12] * 3
    assert columns["timestamp_ms"].to_pylist() == [1_700_000_000_123] * 3

"""The fast and the slow decoder over the same records, and what each says of every row, in one form."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tests.builders.records.encoder import UNKNOWN_TAGS
from tests.oracles.decoding.decoder import decode_record
from tests.oracles.decoding.decoder_answers import without_null_tags
from udfs.arrays.slices import Slices, padded, slices_of
from udfs.decoding.decode import decode
from udfs.decoding.decoded import CONTROL, Decoded, Part

Row = tuple[bytes | None, bytes | None]
Outcome = dict[str, Any]

MARKERS = {0: "ABORT", 1: "COMMIT"}


def joined(column: Sequence[bytes | None]) -> tuple[bytes, list[int], list[int]]:
    """The bytes of all, where each starts, and its length."""
    raw, starts = bytearray(), []
    for each in column:
        starts.append(len(raw))
        raw += each or b""
    return bytes(raw), starts, [-1 if each is None else len(each) for each in column]


def fast(rows: Sequence[Row], is_control: bool = False) -> Decoded:
    """Keys and values side by side in one buffer, as framing leaves them; the last value ends with the buffer."""
    raw, starts, lengths = joined([part for row in rows for part in row])
    data = padded(raw)
    start, length = np.array(starts, np.int64), np.array(lengths, np.int64)
    keys, values = Slices(data, start[::2], length[::2]), Slices(data, start[1::2], length[1::2])
    return decode(keys, values, np.full(len(rows), is_control))


def decode_batch(batch: pa.RecordBatch) -> Decoded:
    is_control = batch.column("is_control").to_numpy(zero_copy_only=False)
    return decode(slices_of(batch.column("key")), slices_of(batch.column("value")), is_control)


def fast_outcomes(decoded: Decoded, count: int) -> list[Outcome]:
    """Proves on the way that each row ends in exactly one part or reject."""
    outcomes: list[list[Outcome]] = [[] for _ in range(count)]
    for part in decoded.parts:
        rows = part.rows.tolist()
        assert rows == sorted(rows), "rows of a part stand in log order"
        values = [None] * len(rows) if part.value is None else part.value.to_pylist()
        for row, key, value in zip(rows, part.key.to_pylist(), values, strict=True):
            outcomes[row].append(outcome_of(part, key, value))
    for reject in decoded.rejects:
        rejected = {"part": str(reject.part), "field": reject.field or None, "reason": str(reject.reason)}
        outcomes[reject.row].append({"rejected": rejected, "record_type": reject.record_type})
    assert all(len(each) == 1 for each in outcomes), "each row ends in exactly one part or one reject"
    return [each for (each,) in outcomes]


def outcome_of(part: Part, key: dict[str, Any], value: dict[str, Any] | None) -> Outcome:
    version = part.value_version
    if part.record_type == CONTROL:
        return {"record_type": None, "control": MARKERS[key["type"]], "value_version": version, **(value or {})}
    record = {"record_type": part.record_type, "key": key, "value": without_null_tags(value)}
    return {**record, "value_version": version}


def slow_outcomes(rows: Sequence[Row], is_control: bool = False) -> tuple[list[Outcome], list[int]]:
    """What each row says, and its number of unknown tags."""
    reported = [decode_record(key, value, is_control) for key, value in rows]
    unknown_tags = [each.pop("unknown_tags", 0) for each in reported]
    for each in reported:
        if "value" in each:
            each["value"] = without_null_tags(each["value"])
    return reported, unknown_tags


def assert_same(rows: Sequence[Row], is_control: bool = False) -> list[Outcome]:
    """Both decoders say the same of every row, and count the same unknown tags; what they say."""
    decoded = fast(rows, is_control)
    ours = fast_outcomes(decoded, len(rows))
    wanted, unknown_tags = slow_outcomes(rows, is_control)
    for (key, value), mine, theirs in zip(rows, ours, wanted, strict=True):
        assert mine == theirs, f"key {hexed(key)} value {hexed(value)}\nfast {mine!r:.3000}\nslow {theirs!r:.3000}"
    for part in decoded.parts:
        assert part.unknown_tags == sum(unknown_tags[row] for row in part.rows.tolist()), part.rows
    return ours


def fast_one(key: bytes | None, value: bytes | None, is_control: bool = False) -> Outcome:
    """The fast decoder as the slow one is called: for one record."""
    decoded = fast([(key, value)], is_control)
    (outcome,) = fast_outcomes(decoded, 1)
    is_data = "key" in outcome
    return outcome | {"unknown_tags": decoded.parts[0].unknown_tags} if is_data else outcome


DECODERS = {"slow": decode_record, "fast": fast_one}


def without_unknown_tags(value: Any) -> Any:
    """What was drawn, as decoders return it."""
    if isinstance(value, list):
        return [without_unknown_tags(element) for element in value]
    if not isinstance(value, dict):
        return value
    known = {name: without_unknown_tags(inner) for name, inner in value.items() if name != UNKNOWN_TAGS}
    return without_null_tags(known)


def in_type(value: Any, wanted: pa.DataType) -> Any:
    """The same value with None for the fields that it lacks."""
    if value is None:
        return None
    if pa.types.is_list(wanted):
        return [in_type(element, wanted.value_type) for element in value]
    if pa.types.is_struct(wanted):
        assert set(value) <= {field.name for field in wanted}
        return {field.name: in_type(value.get(field.name), field.type) for field in wanted}
    return value


def hexed(raw: bytes | None) -> str:
    return "null" if raw is None else raw[:3000].hex()


def table(rows: Sequence[Row], is_control: Sequence[bool] | None = None) -> pa.RecordBatch:
    return pa.record_batch(
        {
            "key": pa.array([key for key, _ in rows], pa.binary()),
            "value": pa.array([value for _, value in rows], pa.binary()),
            "is_control": pa.array([False] * len(rows) if is_control is None else is_control, pa.bool_()),
        }
    )

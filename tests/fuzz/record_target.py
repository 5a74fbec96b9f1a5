"""Decoding: each record becomes one row of one table, or one reject; lines and tables hold what was decoded.

An input is one record, in bytes: whether it is a control record and whether its value is null, the length of the key
(all ones: null), then key and value.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import pyarrow as pa

from tests.builders.records.raw_records import Scene, as_records
from tests.fuzz.logs import pairs
from tests.fuzz.mutations import mutate_bytes
from tests.fuzz.target import Target
from tests.oracles.decoding.both_decoders import assert_same
from tests.oracles.log.table_rows import Raw
from udfs.decoding.decode import decode
from udfs.decoding.decoded import Decoded
from udfs.framing.log_bytes.framed_records import Records
from udfs.lines.record_lines import Writer
from udfs.rows.shape import Origin, Shaper

CONTROL, NULL_VALUE = 1, 2
NULL_KEY = 0xFFFF
HEAD = 3
DRAWN = 1000
# The slow decoder takes one input at a time; of many it looks at the first ones.
SLOW_INPUTS = 8
# Lines of rejected records are slow to make.
LINES = 1000
ORIGIN = Origin("prod", 3, "run")


@dataclass
class RecordTarget(Target):
    logs: Sequence[bytes]
    name = "records"
    inputs_a_call = 20_000
    seconds_a_call = 40.0

    def seeds(self) -> list[bytes]:
        drawn = [(raw.key, raw.value, raw.is_control) for raw in Scene(7).records(DRAWN)]
        return [packed(*pair) for pair in [*drawn, *(pair for log in self.logs for pair in pairs(log))]]

    def mutate(self, raw: bytes, others: Sequence[bytes], chance: Random) -> bytes:
        key, value, is_control = unpacked(raw)
        match chance.randrange(12):
            case 0:
                key = None if chance.random() < 0.1 else mutate_bytes(key or b"", others, chance)
            case 1:
                key, _, _ = unpacked(chance.choice(others))
            case 2:
                is_control = not is_control
            case 3:
                return mutate_bytes(raw, others, chance)
            case _:
                value = None if chance.random() < 0.01 else mutate_bytes(value or b"\x00", [raw], chance)
        return packed(key, value, is_control)

    def check(self, inputs: Sequence[bytes]) -> None:
        raws = [as_raw(number, each) for number, each in enumerate(inputs)]
        records = as_records(raws)
        decoded = decode(records.keys, records.values, records.is_control)
        check_every_record_has_one_place(decoded, len(inputs))
        shared = decode(records.keys, records.values, records.is_control, may_share_keys=True)
        check_tables(Shaper().tables(records, shared, ORIGIN), len(inputs))
        check_lines(as_records(raws[:LINES]))
        for is_control in (False, True):
            some = [raw for raw in raws[:SLOW_INPUTS] if raw.is_control == is_control]
            assert_same([(raw.key, raw.value) for raw in some], is_control)


def packed(key: bytes | None, value: bytes | None, is_control: bool) -> bytes:
    flags = CONTROL * is_control + NULL_VALUE * (value is None)
    length = NULL_KEY if key is None else min(len(key), NULL_KEY - 1)
    return bytes([flags]) + length.to_bytes(2, "big") + (key or b"")[: NULL_KEY - 1] + (value or b"")


def unpacked(raw: bytes) -> tuple[bytes | None, bytes | None, bool]:
    flags, length = (raw[0] if raw else 0), int.from_bytes(raw[1:HEAD], "big")
    size = 0 if length == NULL_KEY else length
    key = None if length == NULL_KEY else raw[HEAD : HEAD + size]
    return key, None if flags & NULL_VALUE else raw[HEAD + size :], bool(flags & CONTROL)


def as_raw(number: int, packed_record: bytes) -> Raw:
    key, value, is_control = unpacked(packed_record)
    return Raw(number, key, value, is_control=is_control)


def check_every_record_has_one_place(decoded: Decoded, count: int) -> None:
    rows = [part.rows for part in decoded.parts] + [np.array([each.row for each in decoded.rejects], np.int64)]
    assert sorted(np.concatenate(rows).tolist()) == list(range(count)), "in = decoded + rejected"
    for part in decoded.parts:
        for side in (part.key, part.value):
            if side is not None:
                assert len(side) == len(part.rows)
                side.validate(full=True)


def check_tables(tables: dict[str, pa.Table], count: int) -> None:
    assert sum(table.num_rows for table in tables.values()) == count
    for table in tables.values():
        table.validate(full=True)


def check_lines(records: Records) -> None:
    decoded = decode(records.keys, records.values, records.is_control)
    lines = b"".join(Writer(3, "a.log").lines(records, decoded)).splitlines()
    offsets = [json.loads(line)["offset"] for line in lines]
    assert offsets == list(range(len(records)))
    b"".join(Writer(3, "a.log", is_csv=True).lines(records, decoded)).decode()

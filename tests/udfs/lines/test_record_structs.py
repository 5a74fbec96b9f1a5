"""Records as a column of structs, against the slow decoder: each row in its place, whatever the bytes."""

import json
import random
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from tests.builders.logs.segments import COMMIT_KEY, COMMIT_V3, GROUP_KEY
from tests.builders.records.hostile_values import hostile_rows
from tests.builders.records.random_records import Draw
from tests.oracles.decoding.both_decoders import Row
from tests.oracles.decoding.decoder import decode_record
from tests.oracles.decoding.decoder_answers import without_null_tags
from tests.oracles.decoding.kafka_names import NAMES
from udfs.lines.record_structs import decoded_column

# Their members' payloads are shown decoded: tests/kafka compares those with what Kafka's tool shows.
WITH_PAYLOADS = (2, 5)
NOTHING = dict.fromkeys(("record_type", "type", "key", "value", "value_version", "rejected"))


def structs(rows: Sequence[Row]) -> list[dict[str, Any]]:
    columns = [pa.array(side, pa.binary()) for side in zip(*rows, strict=True)]
    result: list[dict[str, Any]] = decoded_column(*columns).to_pylist()
    return result


def assert_as_the_slow_decoder(rows: Sequence[Row]) -> list[dict[str, Any]]:
    result = structs(rows)
    assert len(result) == len(rows)
    for (key, value), struct in zip(rows, result, strict=True):
        wanted = decode_record(key, value)
        if "rejected" in wanted:
            assert_rejected(struct, wanted)
        else:
            assert_decoded(struct, wanted)
    return result


def assert_rejected(struct: dict[str, Any], wanted: dict[str, Any]) -> None:
    number = wanted["record_type"]
    assert struct["rejected"].pop("detail")
    assert struct == NOTHING | {"record_type": number, "type": NAMES.get(number), "rejected": wanted["rejected"]}


def assert_decoded(struct: dict[str, Any], wanted: dict[str, Any]) -> None:
    number = wanted["record_type"]
    assert (struct["record_type"], struct["type"], struct["rejected"]) == (number, NAMES[number], None)
    assert json.loads(struct["key"]) == wanted["key"]
    assert struct["value_version"] == wanted["value_version"]
    if wanted["value"] is None:
        assert struct["value"] is None
    elif number not in WITH_PAYLOADS:
        said = json.loads(json.dumps(wanted["value"], default=bytes.hex))
        assert without_null_tags(json.loads(struct["value"])) == without_null_tags(said)


def spoilt(chance: random.Random, raw: bytes | None) -> bytes | None:
    """Mostly as it was; else cut, longer, changed, or gone."""
    choice = chance.random()
    if raw is None or choice < 0.7:
        return raw
    if choice < 0.8:
        return raw[: chance.randrange(len(raw) + 1)]
    if choice < 0.85:
        return raw + chance.randbytes(3)
    if choice < 0.95:
        place = chance.randrange(len(raw) + 1)
        return raw[:place] + chance.randbytes(1) + raw[place + 1 :]
    return None


def test_thousands_of_mixed_records_whole_and_spoilt(seed: int) -> None:
    chance = random.Random(seed)
    rows = [
        (spoilt(chance, record.key_bytes), spoilt(chance, record.value_bytes))
        for record in Draw(chance, is_large=False).records(each=60)
    ]
    rows += [(chance.randbytes(chance.randrange(30)), chance.randbytes(chance.randrange(200))) for _ in range(300)]
    result = assert_as_the_slow_decoder(chance.sample(rows, len(rows)))
    assert {struct["rejected"] is None for struct in result} == {True, False}


def test_values_that_cost_more_than_they_are_worth() -> None:
    assert_as_the_slow_decoder(list(hostile_rows(20_000).values()))


def test_a_value_of_many_megabytes_is_text_or_a_reason() -> None:
    metadata = b"\x01" * 32_767
    commit = COMMIT_V3[:14] + len(metadata).to_bytes(2, "big") + metadata + COMMIT_V3[-8:]
    rows = [(COMMIT_KEY, commit)] * 300 + [(COMMIT_KEY, bytes(20 << 20)), (bytes(20 << 20), None)]
    result = assert_as_the_slow_decoder(rows)
    assert [struct["rejected"] and struct["rejected"]["reason"] for struct in result[299:]] == [
        None,
        "trailing_bytes",
        "trailing_bytes",
    ]


def test_a_tombstone_has_a_key_and_no_value() -> None:
    (struct,) = structs([(COMMIT_KEY, None)])
    assert struct == NOTHING | {
        "record_type": 1,
        "type": "OffsetCommit",
        "key": '{"group":"g","topic":"t","partition":3}',
    }


@pytest.mark.parametrize("kind", [0, 1])
def test_the_key_of_a_transaction_marker_is_too_short_for_a_commit(kind: int) -> None:
    (struct,) = structs([(bytes([0, 0, 0, kind]), bytes(6))])
    assert struct["record_type"] == 0
    assert (struct["rejected"]["part"], struct["rejected"]["reason"]) == ("key", "underrun")


def test_no_rows_and_nulls_of_no_type() -> None:
    nothing = pa.array([], pa.binary())
    assert decoded_column(nothing, nothing).type == decoded_column(pa.nulls(1), pa.nulls(1)).type
    assert len(decoded_column(nothing, nothing)) == 0
    (struct,) = decoded_column(pa.nulls(1), pa.nulls(1)).to_pylist()
    assert struct["rejected"] == {"part": "key", "field": None, "reason": "null_key", "detail": "null"}
    (struct,) = decoded_column(pa.array([GROUP_KEY]), pa.nulls(1)).to_pylist()
    assert struct["key"] == '{"group":"g"}'


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()])
def test_a_slice_of_columns_has_its_own_rows(kind: pa.DataType) -> None:
    keys = pa.array([None, COMMIT_KEY, GROUP_KEY, None], kind)
    values = pa.array([b"x", COMMIT_V3, None, b"y"], kind)
    rows = decoded_column(keys.slice(1, 2), values.slice(1, 2)).to_pylist()
    assert [(struct["type"], struct["value_version"]) for struct in rows] == [
        ("OffsetCommit", 3),
        ("GroupMetadata", None),
    ]

"""Arrow types of records, and columns brought under them."""

import random

import pyarrow as pa
import pytest

from schemas.fields import Field, Kind, Message, Shape
from schemas.records import REGISTRY
from tests.builders.records.random_records import EVERY_LAYOUT, Draw, Kept
from tests.oracles.decoding.both_decoders import fast, in_type
from udfs.decoding.arrow_types import conform, message_type, record_schema

TOPIC_PARTITIONS = "list<item: struct<topic_id: string, partitions: list<item: int32>>>"
OWNED = "list<item: struct<topic_id: string, partitions: list<item: int32>, assignment_epochs: list<item: int32>>>"
PAIRS = "list<item: struct<key: string, value: string>>"

# Fields of the newest layout first, then those that only older ones have.
VALUE_TYPES = {
    1: "struct<offset: int64, leader_epoch: int32, metadata: string, commit_timestamp: int64, topic_id: string, "
    "expire_timestamp: int64>",
    2: "struct<protocol_type: string, generation: int32, protocol: string, leader: string, "
    "current_state_timestamp: int64, members: list<item: struct<member_id: string, group_instance_id: string, "
    "client_id: string, client_host: string, rebalance_timeout: int32, session_timeout: int32, subscription: binary, "
    "assignment: binary>>>",
    3: "struct<epoch: int32, metadata_hash: int64>",
    5: "struct<instance_id: string, rack_id: string, client_id: string, client_host: string, "
    "subscribed_topic_names: list<item: string>, subscribed_topic_regex: string, rebalance_timeout_ms: int32, "
    "server_assignor: string, classic_member_metadata: struct<session_timeout_ms: int32, "
    "supported_protocols: list<item: struct<name: string, metadata: binary>>>, "
    "assignors: list<item: struct<name: string, minimum_version: int16, maximum_version: int16, reason: int8, "
    "version: int16, metadata: binary>>>",
    # `partitions_pending_assignment` stood in early access alone; elements of both layouts share one type.
    8: f"struct<member_epoch: int32, previous_member_epoch: int32, state: int8, assigned_partitions: {OWNED}, "
    f"partitions_pending_revocation: {OWNED}, target_member_epoch: int32, "
    f"partitions_pending_assignment: {TOPIC_PARTITIONS}, error: int8, metadata_version: int16, metadata_bytes: binary>",
    11: "struct<epoch: int32, metadata_hash: int64>",
    # A port is an unsigned int16, which neither Spark nor Parquet has.
    19: "struct<instance_id: string, rack_id: string, client_id: string, client_host: string, "
    "rebalance_timeout_ms: int32, topology_epoch: int32, process_id: string, "
    f"user_endpoint: struct<host: string, port: int32>, client_tags: {PAIRS}>",
}


@pytest.mark.parametrize("number", VALUE_TYPES)
def test_the_type_of_a_value_holds_the_fields_of_every_layout(number: int) -> None:
    assert str(message_type(REGISTRY[number].value)) == VALUE_TYPES[number]


def test_a_record_is_a_key_and_a_value_that_tombstones_lack() -> None:
    assert record_schema(REGISTRY[0]).field("key") == pa.field(
        "key", pa.struct([("group", pa.string()), ("topic", pa.string()), ("partition", pa.int32())]), nullable=False
    )
    assert all(record_schema(record).field("value").nullable for record in REGISTRY.values())


def test_one_name_for_two_kinds_is_refused() -> None:
    def shape(kind: Kind, version: int) -> Shape:
        fields = (Field("size", kind, "A size."),)
        return Shape(fields, releases="all", provenance="none", first=version, last=version)

    with pytest.raises(TypeError, match="fields of one name have the types int32 and int64"):
        message_type(Message("Sizes", (shape(Kind.INT32, 0), shape(Kind.INT64, 1))))


@pytest.mark.parametrize("kept", EVERY_LAYOUT, ids=str)
def test_columns_of_every_layout_conform_to_the_type_of_their_record(seed: int, kept: Kept) -> None:
    draw = Draw(random.Random(seed))
    records = [draw.record(kept, tombstones=0) for _ in range(40)]
    schema = record_schema(kept.record)
    num_rows = 0
    for part in fast([(record.key_bytes, record.value_bytes) for record in records]).parts:
        assert part.key.type == schema.field("key").type
        for start, size in ((0, len(part.value)), (1, 7), (3, 0), (5, 100)):
            value = part.value.slice(start, size)
            conformed = conform(value, schema.field("value").type)
            conformed.validate(full=True)
            assert conformed.to_pylist() == [in_type(each, schema.field("value").type) for each in value.to_pylist()]
        num_rows += len(part.rows)
    assert num_rows == 40


def test_nulls_stay_null_at_every_level() -> None:
    narrow = pa.struct([("a", pa.list_(pa.struct([("b", pa.int32())])))])
    wide = pa.struct([("c", pa.string()), ("a", pa.list_(pa.struct([("b", pa.int32()), ("d", pa.list_(pa.int8()))])))])
    values = [None, {"a": None}, {"a": []}, {"a": [None, {"b": None}, {"b": 5}]}, {"a": [{"b": 6}]}]
    wanted = [
        None,
        {"c": None, "a": None},
        {"c": None, "a": []},
        {"c": None, "a": [None, {"b": None, "d": None}, {"b": 5, "d": None}]},
        {"c": None, "a": [{"b": 6, "d": None}]},
    ]
    array = pa.array(values, narrow)
    assert conform(array, wide).to_pylist() == wanted
    for start in range(len(values)):
        assert conform(array.slice(start), wide).to_pylist() == wanted[start:]
    assert conform(pa.array([], narrow), wide).to_pylist() == []
    assert conform(conform(array, wide), wide).to_pylist() == wanted

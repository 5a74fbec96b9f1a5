"""The slow and the fast decoder behind one face: what each says about many records or payloads, in one form."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from schemas.fields import Message
from schemas.records import ASSIGNMENT, SUBSCRIPTION
from tests.oracles.decoding.decoder import decode_payload as slow_payload
from tests.oracles.decoding.decoder import decode_record as slow_record
from tests.oracles.decoding.decoder import decode_user_data as slow_user_data
from udfs.arrays.slices import slices_of
from udfs.decoding import client_payloads
from udfs.decoding.decode import decode
from udfs.decoding.decoded import Part

# Kafka has these absent where they have their default and null where null was written; a column has null for both.
TAGGED_FIELDS: Final = {
    "assignment_epochs",
    "assignment_timestamp",
    "classic_member_metadata",
    "failed_description_topology_epoch",
    "last_assignment_configs",
    "metadata_hash",
    "stored_description_topology_epoch",
    "topic_id",
    "validated_topology_epoch",
}
FIRST_VERSIONS: Final = {"owned_partitions": 1, "generation_id": 2, "rack_id": 3}
MESSAGES: Final = {"subscription": SUBSCRIPTION, "assignment": ASSIGNMENT}


class Answer(NamedTuple):
    """A decoded record; of a rejected one only `rejected` is set."""

    record_type: int | None = None
    value_version: int | None = None
    key: dict[str, Any] | None = None
    value: dict[str, Any] | None = None
    rejected: str | None = None


class Answers(NamedTuple):
    records: list[Answer]
    unknown_tags: int


Record = tuple[bytes | None, bytes | None]


def slow_answers(records: Sequence[Record]) -> Answers:
    reported = [slow_record(key, value) for key, value in records]
    return Answers([slow_answer(each) for each in reported], sum(each.get("unknown_tags", 0) for each in reported))


def slow_answer(expected: dict[str, Any]) -> Answer:
    if "rejected" in expected:
        return Answer(rejected=str(expected["rejected"]))
    return Answer(expected["record_type"], expected["value_version"], expected["key"], expected["value"])


def fast_answers(records: Sequence[Record]) -> Answers:
    keys, values = (pa.array(column, pa.large_binary()) for column in zip(*records, strict=True))
    decoded = decode(slices_of(keys), slices_of(values), np.zeros(len(records), bool))
    reported: list[list[Answer]] = [[] for _ in records]
    for part in decoded.parts:
        for row, answer in fast_part(part):
            reported[row].append(answer)
    for reject in decoded.rejects:
        reported[reject.row].append(Answer(rejected=str(reject)))
    assert all(len(answers) == 1 for answers in reported), "each row ends in exactly one part or one reject"
    return Answers([answer for (answer,) in reported], sum(part.unknown_tags for part in decoded.parts))


def fast_part(part: Part) -> Iterable[tuple[int, Answer]]:
    values = [None] * len(part.rows) if part.value is None else part.value.to_pylist()
    for row, key, value in zip(part.rows.tolist(), part.key.to_pylist(), values, strict=True):
        yield row, Answer(part.record_type, part.value_version, key, value)


def without_null_tags(value: Any) -> Any:
    if isinstance(value, list):
        return [without_null_tags(element) for element in value]
    if not isinstance(value, dict):
        return value
    return {
        name: without_null_tags(inner)
        for name, inner in value.items()
        if inner is not None or name not in TAGGED_FIELDS
    }


class RecordDecoder(NamedTuple):
    """`form` brings an answer and what Kafka says to the form in which the two can be compared."""

    decode: Callable[[Sequence[Record]], Answers]
    form: Callable[[Any], Any]


RECORD_DECODERS: Final = {
    "slow": RecordDecoder(slow_answers, lambda value: value),
    "fast": RecordDecoder(fast_answers, without_null_tags),
}


class Payload(NamedTuple):
    """`protocol_type` is `user_data` for what stands inside a consumer protocol payload."""

    protocol_type: str
    protocol: str
    part: str
    data: bytes


def slow_payloads(given: Sequence[Payload]) -> list[dict[str, Any] | None]:
    return [
        slow_user_data(protocol, part, data)
        if protocol_type == "user_data"
        else slow_payload(protocol_type, protocol, part, data)
        for protocol_type, protocol, part, data in given
    ]


def fast_payloads(given: Sequence[Payload]) -> list[dict[str, Any] | None]:
    reported: list[dict[str, Any] | None] = [None] * len(given)
    for part, message in MESSAGES.items():
        rows = [row for row, each in enumerate(given) if (each.protocol_type, each.part) == ("consumer", part)]
        for row, answer in zip(rows, fast_consumer(message, [given[row].data for row in rows]), strict=True):
            reported[row] = answer
    for row, (protocol_type, protocol, part, data) in enumerate(given):
        if protocol_type == "user_data":
            reported[row] = client_payloads.decode_user_data(protocol, MESSAGES[part], data)
        elif protocol_type != "consumer":
            reported[row] = client_payloads.decode_payload(protocol_type, part == "subscription", data)
    return reported


def fast_consumer(message: Message, data: list[bytes]) -> list[dict[str, Any] | None]:
    columns = client_payloads.consumer_payloads(pa.array(data, pa.binary()), message).to_pylist()
    return [reported and without_later(reported) for reported in columns]


def without_later(expected: dict[str, Any]) -> dict[str, Any]:
    """Without the fields of later versions, which a column has as nulls."""
    return {
        name: value
        for name, value in expected.items()
        if value is not None or FIRST_VERSIONS.get(name, 0) <= expected["version"]
    }


PAYLOAD_DECODERS: Final[dict[str, Callable[[Sequence[Payload]], list[dict[str, Any] | None]]]] = {
    "slow": slow_payloads,
    "fast": fast_payloads,
}

"""The registry: every record type that can be in the topic, by the number that opens its key."""

from schemas.declarations.fields import RecordType
from schemas.records import classic, consumer, offsets, share, streams
from schemas.words.records import GroupType

RECORDS = (
    *offsets.RECORDS,
    *classic.RECORDS,
    *consumer.RECORDS,
    *share.RECORDS,
    *streams.RECORDS,
)
REGISTRY: dict[int, RecordType] = {
    record.number: record for record in sorted(RECORDS, key=lambda record: record.number)
}
GROUP_TYPES: dict[int, GroupType] = {
    number: record.group_type for number, record in REGISTRY.items() if record.group_type is not None
}


def types_of(table: str) -> tuple[int, ...]:
    """The record types whose rows the table has."""
    return tuple(number for number, record in REGISTRY.items() if record.table == table)


def types_by_group_type(table: str) -> dict[GroupType, int]:
    """Which record type a row of a group's table was. Rows of 9 and 15 look alike; only the early access of share
    groups in 4.0 wrote 9."""
    return {GROUP_TYPES[number]: number for number in types_of(table)}

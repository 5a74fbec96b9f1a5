"""The registry: every record type that can stand in the topic, by the number that opens its key."""

from schemas import classic_records, consumer_records, offset_records, share_records, streams_records
from schemas.fields import RecordType

REGISTRY: dict[int, RecordType] = {
    record.number: record
    for module in (offset_records, classic_records, consumer_records, share_records, streams_records)
    for record in module.RECORDS
}

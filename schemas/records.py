"""The registry: every record type that can stand in the topic, by the number that opens its key."""

from schemas import classic_records, consumer_records, offset_records, share_records, streams_records
from schemas.fields import RecordType

RECORDS = (
    *offset_records.RECORDS,
    *classic_records.RECORDS,
    *consumer_records.RECORDS,
    *share_records.RECORDS,
    *streams_records.RECORDS,
)
REGISTRY: dict[int, RecordType] = {
    record.number: record for record in sorted(RECORDS, key=lambda record: record.number)
}

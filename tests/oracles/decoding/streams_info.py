"""User data of classic Kafka Streams groups: SubscriptionInfo and AssignmentInfo, versions 1 to 11.

Both open with an int32 version, where everything else on this topic opens with an int16.
"""

from tests.oracles.decoding.reader import (
    Cursor,
    Reader,
    Refused,
    Struct,
    array,
    int8,
    int32,
    int64,
    nullable_string,
    plain_bytes,
    struct,
    uint16,
    uuid,
)

NEWEST_VERSION = 11


@struct
def previous_task(task: Struct) -> None:
    task.read("topic_group_id", int32)
    task.read("partition", int32)


@struct
def partition_offset_sum(partition: Struct) -> None:
    partition.read("partition", int32)
    partition.read("offset_sum", int64)


@struct
def task_offset_sum_v7(task: Struct) -> None:
    task.read("topic_group_id", int32)
    task.read("partition_to_offset_sum", array(partition_offset_sum))


@struct
def task_offset_sum_v10(task: Struct) -> None:
    task.read("topic_group_id", int32)
    task.read("partition", int32)
    task.read("offset_sum", int64)
    task.read("named_topology", nullable_string)


@struct
def client_tag(tag: Struct) -> None:
    tag.read("key", plain_bytes)
    tag.read("value", plain_bytes)


@struct
def subscription_info(info: Struct) -> None:
    version = info.read("version", int32)
    if version < 1:
        raise Refused("bad_length")
    if version >= 3:
        info.read("latest_supported_version", int32)
    if version > NEWEST_VERSION:  # nothing else may be read of a future version
        return
    info.read("process_id", uuid)
    if version <= 6:
        info.read("prev_tasks", array(previous_task))
        info.read("standby_tasks", array(previous_task))
    if version >= 2:
        info.read("user_end_point", plain_bytes)
    if 7 <= version <= 9:
        info.read("task_offset_sums", array(task_offset_sum_v7))
    if version >= 10:
        info.read("task_offset_sums", array(task_offset_sum_v10))
    if version >= 8:
        info.read("unique_field", int8)
    if version >= 9:
        info.read("error_code", int32)
    if version >= 11:
        info.read("client_tags", array(client_tag))


def java_utf(cursor: Cursor) -> str:
    """Java's modified UTF-8: one to three bytes for each UTF-16 unit, so NUL takes two and an emoji six."""
    raw = Cursor(cursor.take(uint16(cursor)))
    units = b""
    while raw.left() > 0:
        units += _utf16_unit(raw).to_bytes(2, "big")
    return _utf16_text(units)


def _utf16_unit(raw: Cursor) -> int:
    first = raw.take(1)[0]
    if first < 0x80:
        return first
    if 0xC0 <= first < 0xE0:
        return (first & 0x1F) << 6 | _continuation(raw)
    if 0xE0 <= first < 0xF0:
        return (first & 0x0F) << 12 | _continuation(raw) << 6 | _continuation(raw)
    raise Refused("invalid_utf8")


def _continuation(raw: Cursor) -> int:
    byte = raw.take(1)[0]
    if not 0x80 <= byte < 0xC0:
        raise Refused("invalid_utf8")
    return byte & 0x3F


def _utf16_text(units: bytes) -> str:
    try:
        return units.decode("utf-16-be")
    except UnicodeDecodeError:
        raise Refused("invalid_utf8") from None


def topology_name(cursor: Cursor) -> str | None:
    count = int32(cursor)
    if count < 0:
        raise Refused("bad_length")
    return _utf16_text(cursor.take(2 * count)) or None


def _read_task_id(task: Struct, version: int) -> None:
    task.read("subtopology", int32)
    task.read("partition", int32)
    if version >= 10:
        task.read("named_topology", topology_name)


def active_task(version: int) -> Reader:
    @struct
    def layout(task: Struct) -> None:
        _read_task_id(task, version)

    return layout


def standby_task(version: int) -> Reader:
    @struct
    def layout(task: Struct) -> None:
        _read_task_id(task, version)
        task.read("topic_partitions", array(topic_partition))

    return layout


@struct
def topic_partition(value: Struct) -> None:
    value.read("topic", java_utf)
    value.read("partition", int32)


@struct
def dictionary_entry(entry: Struct) -> None:
    entry.read("index", int32)
    entry.read("topic", java_utf)


def indexed_topic_partition(topics: dict[int, str]) -> Reader:
    def topic_by_index(cursor: Cursor) -> str:
        index = int32(cursor)
        if index not in topics:
            raise Refused("bad_length")
        return topics[index]

    @struct
    def layout(value: Struct) -> None:
        value.read("topic", topic_by_index)
        value.read("partition", int32)

    return layout


def host_partitions(of_topic: Reader) -> Reader:
    @struct
    def layout(host: Struct) -> None:
        host.read("host", java_utf)
        host.read("port", int32)
        host.read("topic_partitions", array(of_topic))

    return layout


@struct
def assignment_info(info: Struct) -> None:
    version = info.read("version", int32)
    if not 1 <= version <= NEWEST_VERSION:
        raise Refused("bad_length")
    if version >= 3:
        info.read("commonly_supported_version", int32)
    info.read("active_tasks", array(active_task(version)))
    info.read("standby_tasks", array(standby_task(version)))
    if 2 <= version <= 4:
        info.read("partitions_by_host", array(host_partitions(topic_partition)))
    if version >= 5:
        _read_hosts_with_dictionary(info, version)
    if version >= 4:
        info.read("err_code", int32)
    if version >= 7:
        info.read("next_rebalance_ms", int64)


def _read_hosts_with_dictionary(info: Struct, version: int) -> None:
    """The dictionary serves both maps and is left out of the result."""
    entries = array(dictionary_entry)(info.cursor)
    topics = {entry["index"]: entry["topic"] for entry in entries}
    hosts = array(host_partitions(indexed_topic_partition(topics)))
    info.read("partitions_by_host", hosts)
    if version >= 6:
        info.read("standby_partitions_by_host", hosts)

"""What is declared of each record type, and what follows it: its table, the table's columns, and its reader,
its handler and what both folds note of it."""

from schemas.records import GROUP_TYPES, REGISTRY, types_by_group_type, types_of
from schemas.tables import TABLES
from schemas.words.records import GroupType
from udfs.audit import modern_audit
from udfs.audit.modern import group as audit_notes
from udfs.decoding.decoded import CONTROL
from udfs.groups import fold
from udfs.groups.modern import notes as replay_notes
from udfs.groups.modern import record_handlers
from udfs.groups.readers.modern_records import READERS_OF_TABLES
from udfs.rows.column_sources import BY_RECORD_TYPE

# As docs of Kafka's records and their generated classes name them; see also the tests against Kafka's jars.
PREFIXES = {"ConsumerGroup": GroupType.CONSUMER, "ShareGroup": GroupType.SHARE, "StreamsGroup": GroupType.STREAMS}


def test_each_number_has_the_group_type_that_kafka_names_it_by() -> None:
    named = {
        number: group_type
        for number, record in REGISTRY.items()
        for prefix, group_type in PREFIXES.items()
        if record.name.startswith(prefix)
    }
    assert named | {2: GroupType.CLASSIC} == GROUP_TYPES
    assert sorted(REGISTRY) == list(range(24))


def test_each_type_is_read_into_its_table() -> None:
    read = {number: sources.table.name for number, sources in BY_RECORD_TYPE.items() if number != CONTROL}
    assert read == {number: record.table for number, record in REGISTRY.items()}
    assert {*read.values()} <= {*TABLES}


def test_a_row_of_a_table_of_groups_has_its_type() -> None:
    for name in {REGISTRY[number].table for number in GROUP_TYPES}:
        types = types_by_group_type(name)
        assert {*types.values()} == {*types_of(name)} - ({9} if name == "group_partition_metadata" else set())
        assert len(types) == 1 or "group_type" in {column.name for column in TABLES[name].columns}


def test_each_type_of_groups_has_one_reader_and_one_handler_and_both_folds_note_it() -> None:
    modern = {*GROUP_TYPES} - {2}
    assert {*fold.HANDLERS} == {*GROUP_TYPES}
    tables = {REGISTRY[number].table for number in modern}
    assert {*READERS_OF_TABLES} == tables
    assert {*record_handlers.HANDLERS_OF_TABLES} == tables
    assert {*record_handlers.HANDLERS} == modern
    assert len({*READERS_OF_TABLES.values()}) == len(tables)
    assert len({*record_handlers.HANDLERS.values()}) == len(tables)
    assert {*replay_notes.NOTES} == modern
    # When a target is complete, the audit recomputes it. It needs no topology.
    followed = {*audit_notes.NOTES, *audit_notes.COMPLETIONS}
    assert modern - followed == {*types_of(modern_audit.TOPOLOGIES_TABLE)} == {23}

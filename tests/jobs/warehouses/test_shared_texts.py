"""Texts that rows share reach a file as dictionaries, and its readers see plain texts."""

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses import table_files
from jobs.warehouses.table_files import TableFile
from schemas.tables import TABLES
from udfs.arrays.arrow_schema import table_schema

COMMITS = TABLES["offset_commits"]
# Filled in by `rows`.
ROW = {
    "cluster": "c",
    "run_id": "r",
    "offsets_partition": 3,
    "partition": 0,
    "key_version": 1,
    "is_tombstone": False,
    "record_bytes": 9,
}


def rows(groups, first_offset, *, are_shared):
    made = [
        {**ROW, "record_offset": first_offset + place, "group_id": group, "topic": f"t-{group}"}
        for place, group in enumerate(groups)
    ]
    table = pa.Table.from_pylist(made, schema=table_schema(COMMITS))
    for name in ("group_id", "topic") if are_shared else ():
        place = table.schema.get_field_index(name)
        shared = table.column(place).combine_chunks().dictionary_encode()
        table = table.set_column(place, table.schema.field(place).with_type(shared.type), shared)
    return table


@pytest.mark.parametrize("kinds", [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize("most_rows", [1, 1_000])
def test_shared_and_plain_texts_make_one_file(tmp_path, monkeypatch, kinds, most_rows):
    monkeypatch.setattr(table_files, "MOST_ROWS", most_rows)
    groups = [["b", "a", "b"], ["c", "a", "ü"]]
    file = TableFile(LocalPlace(tmp_path), COMMITS, "run")
    for place, are_shared in enumerate(kinds):
        file.write(rows(groups[place], 10 * place, are_shared=are_shared), 3)
    done = file.close()
    assert done is not None and done.num_rows == 6
    expected = [(0, "b"), (1, "a"), (2, "b"), (10, "c"), (11, "a"), (12, "ü")]
    path = str(tmp_path / done.name)
    result = duckdb.sql(f"SELECT record_offset, group_id, topic, typeof(group_id) FROM '{path}' ORDER BY 1").fetchall()
    assert result == [(offset, group, f"t-{group}", "VARCHAR") for offset, group in expected]
    assert pq.read_schema(path).equals(pa.schema(plain(field) for field in table_schema(COMMITS)))
    assert '"group_id": "a"' in done.stats and '"group_id": "ü"' in done.stats


def plain(field):
    """As Parquet gives a field back that has no Arrow schema beside it."""
    return (
        field.with_type(pa.list_(field.type.value_field.with_name("element")))
        if pa.types.is_list(field.type)
        else field
    )

"""Rows that a replay makes, before they become Arrow tables with the declared columns.

Each table has a function that makes its rows, called with a keyword for each field (see `row_makers`):

    rows.add(PARTITION_MOVE(group_id=group_id, tp=tp, ...))

A field that is missing or unknown is a TypeError of the call. A row is a tuple, with its values in the order of the
table's columns. A dict or an object for each row would cost several times as much to make and to turn into columns.

A row has every column of its table except `cluster` and `evidence_partition`. Times are microseconds. `tp` is one
number for `topic, topic_id, partition` (see `partition_codes`); lists of partitions are sets of these numbers. If `tp`
is a frozenset, the row becomes one row per element: partitions mostly change owners together. Texts of such tables
are dictionaries, since each is repeated for every partition.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, get_type_hints

import numpy as np
import pyarrow as pa

from schemas.tables import GROUPS, ListOf, StructOf, Table
from udfs.arrays.arrow_schema import arrow_type, table_schema
from udfs.arrays.nullable import every
from udfs.arrays.texts import KIND, same, with_codes
from udfs.topics.partition_codes import PARTITION_MASK, SHIFT, TopicCodes

CONSTANT = frozenset({"cluster", "evidence_partition"})
LIST_TYPE = arrow_type(ListOf(StructOf(GROUPS["PARTITION_LISTS"])))

Numbers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, eq=False, slots=True)
class RowFields:
    """The fields of the rows of a table. Each row begins with this."""

    table: str
    names: tuple[str, ...]


# The values follow the fields, one for each name.
Row = tuple[RowFields, *tuple[Any, ...]]


def row_maker(table: Table, source: type | None = None, **constants: Any) -> Callable[..., Row]:
    """A function with a keyword for each field. With `source`, its first argument is an instance of this class, whose
    attributes fill the fields of the same names. `constants` are the same in all rows.

    It is generated, as `collections.namedtuple` does. A call costs little up to 15 keywords: from there on, Python
    3.11 makes a dict of them."""
    names = fields_of(table)
    attributes = set() if source is None else set(get_type_hints(source)) & set(names)
    if wrong := sorted(constants.keys() - (set(names) - attributes)):
        raise ValueError(f"constants of rows of {table.name}: {wrong} are no fields, or come from {source}")
    keywords = [name for name in names if name not in attributes and name not in constants]
    values = (
        f"_source.{name}" if name in attributes else f"_constant_{name}" if name in constants else name
        for name in names
    )
    parameters = [*([] if source is None else ["_source"]), "*", *keywords]
    known = {"_fields": RowFields(table.name, names), **{f"_constant_{name}": each for name, each in constants.items()}}
    maker: Callable[..., Row] = eval(f"lambda {', '.join(parameters)}: (_fields, {', '.join(values)})", known)
    # Python's messages about missing and unknown fields begin with this.
    maker.__name__ = maker.__qualname__ = f"row of {table.name}"
    return maker


def fields_of(table: Table) -> tuple[str, ...]:
    """In the order of the table's columns. `tp` is in the place of topic, topic_id and partition."""
    names = [column.name for column in table.columns if column.name not in CONSTANT]
    if not {"topic", "topic_id", "partition"} <= set(names):
        return tuple(names)
    return tuple("tp" if name == "topic" else name for name in names if name not in ("topic_id", "partition"))


class RowsByTable:
    """Rows of all tables, by table name."""

    def __init__(self) -> None:
        self.of: defaultdict[str, list[Row]] = defaultdict(list)

    def add(self, row: Row) -> None:
        self.of[row[0].table].append(row)

    @property
    def num_rows(self) -> int:
        return sum(map(len, self.of.values()))


def arrow_rows(table: Table, rows: Sequence[Row], topics: TopicCodes, cluster: str, partition: int) -> pa.Table:
    schema = row_schema(table)
    if not rows:
        return empty_of(table)
    constants: dict[str, Any] = {"cluster": cluster, "evidence_partition": partition}
    of_rows = values_by_name(table, rows)
    tps, sizes = spread(of_rows.pop("tp")) if "tp" in of_rows else (None, None)
    columns = columns_of(of_rows, table, topics)
    if sizes is not None:
        of_row = pa.array(np.repeat(np.arange(len(sizes)), sizes))
        columns = {name: repeat_values(values, of_row) for name, values in columns.items()}
    if tps is not None:
        columns |= topic_columns(tps, topics, KIND)
    num_rows = len(rows) if tps is None else len(tps)
    columns |= {name: in_all_rows(value, schema.field(name).type, num_rows)
                for name, value in constants.items() if name in schema.names}  # fmt: skip
    return pa.table([columns[name] for name in schema.names], schema)


@cache
def row_schema(table: Table) -> pa.Schema:
    schema = table_schema(table)
    return with_codes(schema) if {"topic", "partition"} <= set(schema.names) else schema


@cache
def empty_of(table: Table) -> pa.Table:
    """Making a column of structs takes longer than most tables with a row."""
    return row_schema(table).empty_table()


def values_by_name(table: Table, rows: Sequence[Row]) -> dict[str, Sequence[Any]]:
    """The values of each field, in the order of the rows."""
    made_by = set(map(itemgetter(0), rows))
    names = rows[0][0].names
    if len(made_by) > 1 or rows[0][0].table != table.name:
        raise ValueError(f"rows of {', '.join(sorted({fields.table for fields in made_by}))} for {table.name}")
    if "tp" not in names:
        return dict(zip(names, list(zip(*rows, strict=True))[1:], strict=True))
    return of_equal_rows(names, rows)


def of_equal_rows(names: tuple[str, ...], rows: Sequence[Row]) -> dict[str, Sequence[Any]]:
    """Rows that follow each other and differ in their partition only become one row, with all their partitions. A
    member mostly gets or loses many at once, and converting a row costs several times as much as comparing it."""
    place = names.index("tp") + 1
    others = itemgetter(*(each for each in range(1, len(names) + 1) if each != place))
    kept: list[tuple[Any, ...]] = []
    tps: list[int | Collection[int]] = []
    for values, some in groupby(rows, others):
        cells: list[Any] = [row[place] for row in some]
        kept.append(values)
        tps.append(list(chain.from_iterable(map(elements, cells))) if len(cells) > 1 else cells[0])
    columns = dict(zip((name for name in names if name != "tp"), zip(*kept, strict=True), strict=True))
    return columns | {"tp": tps}


def elements(tp: int | Collection[int]) -> Collection[int]:
    return (tp,) if isinstance(tp, int) else tp


def spread(tps: Sequence[int | Collection[int]]) -> tuple[Numbers, Numbers | None]:
    """All topic partitions, and how many rows each row becomes; None: one each."""
    if set(map(type, tps)) == {int}:
        return np.array(tps, np.int64), None
    sets = list(map(elements, tps))
    numbers = np.fromiter(chain.from_iterable(sets), np.int64)
    return numbers, np.fromiter(map(len, sets), np.int64, len(sets))


def repeat_values(values: pa.Array, of_row: pa.Array) -> pa.Array:
    return pa.nulls(len(of_row), values.type) if values.null_count == len(values) else values.take(of_row)


@cache
def types_of(table: Table) -> dict[str, pa.DataType]:
    return {field.name: field.type for field in row_schema(table)}


@cache
def lists_of(table: Table) -> tuple[str, ...]:
    """Its lists of partitions."""
    return tuple(name for name, kind in types_of(table).items() if kind == LIST_TYPE)


def columns_of(of_rows: dict[str, Sequence[Any]], table: Table, topics: TopicCodes) -> dict[str, pa.Array]:
    """All lists of partitions are made together: a call costs more than most lists."""
    types, listed = types_of(table), lists_of(table)
    columns = {name: array_of(values, types[name]) for name, values in of_rows.items() if name not in listed}
    if listed:
        size = len(of_rows[listed[0]])
        lists = partition_lists([each for name in listed for each in of_rows[name]], topics)
        columns |= {name: lists.slice(place * size, size) for place, name in enumerate(listed)}
    return columns


def in_all_rows(value: Any, kind: pa.DataType, size: int) -> pa.Array:
    return same(value, size) if kind == KIND else every(value, kind, size)


def array_of(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Columns that only other group types fill are all NULL."""
    if values.count(None) == len(values):
        return pa.nulls(len(values), kind)
    return pa.array(values, pa.string()).dictionary_encode() if kind == KIND else pa.array(values, kind)


def topic_columns(numbers: Numbers, topics: TopicCodes, kind: pa.DataType) -> dict[str, pa.Array]:
    """`kind`: of names and ids. Only topics that the numbers name become texts: there may be very many others."""
    codes = numbers >> SHIFT
    is_used = np.bincount(codes) > 0
    used = [topics.topics[code] for code in np.flatnonzero(is_used).tolist()]
    places = pa.array((np.cumsum(is_used) - 1)[codes])
    return {
        "topic": array_of([name for name, _ in used], kind).take(places),
        "topic_id": array_of([topic_id for _, topic_id in used], kind).take(places),
        "partition": pa.array((numbers & PARTITION_MASK).astype(np.int32)),
    }


def partition_lists(sets: Sequence[Collection[int] | None], topics: TopicCodes) -> pa.Array:
    """Each set as a list of topics, ordered by name, with their partitions ascending."""
    # Most sets are the same object again and again: the empty set, or what a member keeps.
    ids = np.fromiter(map(id, sets), np.int64, len(sets))
    _, firsts, of_row = np.unique(ids, return_index=True, return_inverse=True)
    distinct = [sets[first] for first in firsts]
    tps, of_set = in_order([each or () for each in distinct], topics)
    sizes = of_set[of_row]
    # For each row the range of its own elements, one range after the other.
    starts = (np.cumsum(of_set) - of_set)[of_row] - (np.cumsum(sizes) - sizes)
    is_null = np.array([each is None for each in distinct], bool)[of_row]
    taken = tps[np.arange(sizes.sum()) + np.repeat(starts, sizes)]
    return nested_lists(taken, np.repeat(np.arange(len(sets)), sizes), is_null, topics)


def in_order(sets: Sequence[Collection[int]], topics: TopicCodes) -> tuple[Numbers, Numbers]:
    """The topic partitions of all sets, one set after the other, and the size of each set."""
    sizes = np.fromiter(map(len, sets), np.int64, len(sets))
    tps = np.fromiter(chain.from_iterable(sets), np.int64, int(sizes.sum()))
    rank = np.array(topics.ranks())[tps >> SHIFT] if len(tps) else tps
    in_set = rank << SHIFT | tps & PARTITION_MASK
    return tps[np.lexsort((in_set, np.repeat(np.arange(len(sets)), sizes)))], sizes


def nested_lists(
    tps: Numbers, row: Numbers, is_null: np.ndarray[Any, np.dtype[np.bool_]], topics: TopicCodes
) -> pa.Array:
    """Sorted topic partitions, each with its row, as a list of topics per row."""
    code = tps >> SHIFT
    is_first = np.ones(len(tps), bool)
    is_first[1:] = (code[1:] != code[:-1]) | (row[1:] != row[:-1])
    starts = np.flatnonzero(is_first)
    named = topic_columns(code[starts] << SHIFT, topics, pa.string())
    of_topic = pa.ListArray.from_arrays(
        pa.array(np.append(starts, len(tps)).astype(np.int32)), pa.array((tps & PARTITION_MASK).astype(np.int32))
    )
    structs = pa.StructArray.from_arrays(
        [named["topic"], named["topic_id"], of_topic.cast(LIST_TYPE.value_type.field("partitions").type)],
        fields=list(LIST_TYPE.value_type),
    )
    bounds = np.searchsorted(row[starts], np.arange(len(is_null) + 1))
    return pa.ListArray.from_arrays(pa.array(bounds.astype(np.int32)), structs, type=LIST_TYPE, mask=pa.array(is_null))

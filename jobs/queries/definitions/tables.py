"""Tables at one version in the dialect of each engine. A table that does not exist yet has no rows, but all its
columns."""

from collections.abc import Callable, Iterator, Mapping
from urllib.parse import urlsplit

from jobs.queries.definitions.column_types import duckdb_type, trino_type
from jobs.queries.definitions.dialects import Dialect, comments, text_literal
from jobs.queries.files.table_files import Files, files_at
from jobs.warehouses.delta_tables import IS_PROVISIONAL
from jobs.warehouses.older_tables import MADE_ONCE
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import USER_TABLES, Column, ColumnType, Table, sql_type

# Where Trino knows the tables as they are now; views of their own names show one version of them.
TRINO_SCHEMA = "groupscope_tables"
AZURE = ("abfs:", "abfss:")


def table_definitions(dialect: Dialect, warehouse: Warehouse, versions: Mapping[str, int]) -> Iterator[str]:
    """Statements that make every table known by its name, at its version."""
    yield f"-- Tables of {warehouse.address} for {dialect}, each at one version."
    if dialect == Dialect.TRINO:
        yield f"CREATE SCHEMA IF NOT EXISTS {TRINO_SCHEMA};"
    if dialect == Dialect.DUCKDB and warehouse.root.is_remote:
        yield from extension_for(warehouse.address)
    for name, table in USER_TABLES.items():
        version = versions.get(name)
        yield f"\n-- {name}: {'no rows yet' if version is None else f'version {version}'}."
        for statement in DEFINITIONS[dialect](table, warehouse, version):
            yield f"{statement};"


def extension_for(place: str) -> Iterator[str]:
    """Of a bare DuckDB, which needs one for places that are not local."""
    extension = "azure" if place.startswith(AZURE) else "httpfs"
    yield "-- Give the storage's credentials by CREATE SECRET before the first query: https://duckdb.org/docs/configuration/secrets_manager"
    yield f"INSTALL {extension};\nLOAD {extension};"


def in_duckdb(uri: str) -> str:
    """Hadoop writes abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PATH, DuckDB has the container after the host."""
    where = urlsplit(uri)
    if not uri.startswith(AZURE) or where.username is None:
        return uri
    return f"abfss://{where.hostname}/{where.username}{where.path}"


def duckdb_table(table: Table, warehouse: Warehouse, version: int | None) -> list[str]:
    stored = [] if version is None else files_at(warehouse, table.name, version)
    files = [each._replace(uris=tuple(map(in_duckdb, each.uris))) for each in stored]
    return [duckdb_view_of(table, files), *comments(table.name, table.comment, table.columns)]


def spark_table(table: Table, warehouse: Warehouse, version: int | None) -> list[str]:
    # A comment on a column would have to name all of them; Delta has them.
    rows = f"SELECT * FROM delta.`{warehouse.path(table.name).address.replace('`', '``')}` VERSION AS OF {version}"
    query = rows if version is not None else no_rows(table, sql_type, "`")
    return [f"CREATE OR REPLACE VIEW {table.name} COMMENT {text_literal(table.comment)} AS\n{query}"]


def trino_table(table: Table, warehouse: Warehouse, version: int | None) -> list[str]:
    view = f"CREATE OR REPLACE VIEW {table.name} COMMENT {text_literal(table.comment)} SECURITY INVOKER AS\n"
    if version is None:
        return [view + no_rows(table, trino_type)]
    known = f"{text_literal(TRINO_SCHEMA)}, {text_literal(table.name)}"
    location = warehouse.path(table.name).uri
    return [
        f"CALL system.register_table({known}, {text_literal(location)})",
        f"{view}SELECT * FROM {TRINO_SCHEMA}.{table.name} FOR VERSION AS OF {version}",
    ]


DEFINITIONS: dict[Dialect, Callable[[Table, Warehouse, int | None], list[str]]] = {
    Dialect.SPARK: spark_table,
    Dialect.TRINO: trino_table,
    Dialect.DUCKDB: duckdb_table,
}


def duckdb_view_of(table: Table, files: list[Files]) -> str:
    query = "\nUNION ALL\n".join(rows_of_files(table, each) for each in files) or no_rows(table, duckdb_type)
    return f"CREATE OR REPLACE VIEW {table.name} AS\n{query}"


def rows_of_files(table: Table, files: Files) -> str:
    """Columns say whose they are: DuckDB takes the bare name of a macro's argument, in a view that the macro reads too,
    for the argument."""
    columns = ", ".join(column_of_files(column, files) for column in table.columns)
    uris = ", ".join(map(text_literal, files.uris))
    # Files of an older release may lack columns. To look into each file first takes a while.
    by_name = ", union_by_name = true" if table.name in MADE_ONCE else ""
    return f"SELECT {columns}\nFROM read_parquet([{uris}], hive_partitioning = false{by_name}) AS file"


def column_of_files(column: Column, files: Files) -> str:
    # If Delta's log has it, no file is read.
    if column.name == IS_PROVISIONAL and files.is_provisional is not None:
        return f'{str(files.is_provisional).upper()} AS "{column.name}"'
    if column.name in files.lacking:
        return f'CAST(NULL AS {duckdb_type(column.type)}) AS "{column.name}"'
    return f'CAST(file."{column.name}" AS {duckdb_type(column.type)}) AS "{column.name}"'


def no_rows(table: Table, type_of: Callable[[ColumnType], str], quote: str = '"') -> str:
    columns = (f"CAST(NULL AS {type_of(column.type)}) AS {quote}{column.name}{quote}" for column in table.columns)
    return f"SELECT {', '.join(columns)} WHERE FALSE"

"""Runs SQL on the tables, views and functions of a warehouse, as the newest finished run left them.

    groupscope sql "SELECT * FROM v_decode_coverage" --format csv
    groupscope sql "SELECT * FROM owner_at('orders', 3, '2026-11-21T03:00')"
    groupscope sql questions.sql
    groupscope sql
    spark-submit … jobs/sql.py --register --database kafka

Prints the result of each statement in order. DuckDB runs the SQL in this process, without Java. With --engine spark or
under spark-submit Spark runs it, in its own SQL dialect. Without an argument there is a prompt on a terminal;
otherwise the statements are read from standard input. With --register the tables, views and functions are created in
the Spark catalog, where other programs find them.
"""

import argparse
import sys
from pathlib import Path

from jobs.command_line.flags import SPARK, wanted_engine
from jobs.output.failure import misuse
from jobs.output.rows import write_lines
from jobs.queries.definitions.dialects import Dialect
from jobs.queries.results import Engine, print_answer, print_answers
from jobs.storage.places.addresses import HADOOP

IN_HADOOP = tuple(f"{scheme}:" for scheme in HADOOP)


def run(arguments: argparse.Namespace) -> None:
    check_usage(arguments)
    if arguments.print_tables or arguments.print_views:
        print_definitions(arguments)
    elif arguments.register:
        from jobs.queries.engines.spark_engine import SparkEngine

        engine = SparkEngine(arguments.warehouse, arguments.debug)
        print_answer(engine.register(arguments.database), arguments.format, is_wide=arguments.wide)
    elif arguments.text is None and sys.stdin is not None and sys.stdin.isatty():
        from jobs.queries.prompt import converse

        converse(engine_of(arguments), arguments.format, is_wide=arguments.wide)
    else:
        run_statements(arguments)


def check_usage(arguments: argparse.Namespace) -> None:
    if arguments.database is not None and not arguments.register:
        raise misuse(f"--database {arguments.database}: only with --register")
    others = [flag for flag in ("register", "print_tables", "print_views") if getattr(arguments, flag)]
    if others and arguments.text is not None:
        flag = f"--{others[0].replace('_', '-')}"
        raise misuse(f"{flag} runs no statement; leave out {arguments.text!r}")
    if arguments.print_tables == Dialect.DUCKDB and arguments.warehouse.startswith(IN_HADOOP):
        expected = "DuckDB itself reads no HDFS; give a warehouse on local disks or in a bucket"
        raise misuse(f"--print-tables duckdb: {arguments.warehouse}: {expected}")


def print_definitions(arguments: argparse.Namespace) -> None:
    if arguments.print_tables:
        from jobs.queries.definitions.tables import table_definitions
        from jobs.warehouses.any_warehouse import reading

        warehouse = reading(arguments.warehouse)
        write_lines(table_definitions(Dialect(arguments.print_tables), warehouse, warehouse.readable_versions()))
    if arguments.print_views:
        from jobs.queries.definitions.views import view_definitions

        write_lines(view_definitions(Dialect(arguments.print_views)))


def engine_of(arguments: argparse.Namespace) -> Engine:
    """Imports only the requested engine, since both take a while."""
    if wanted_engine(arguments) == SPARK:
        from jobs.queries.engines.spark_engine import SparkEngine

        return SparkEngine(arguments.warehouse, arguments.debug)
    from jobs.queries.engines.duckdb_engine import DuckDBEngine

    return DuckDBEngine(arguments.warehouse)


def run_statements(arguments: argparse.Namespace) -> None:
    text = text_of(arguments.text)
    engine = engine_of(arguments)
    statements = engine.statements(text)
    if not statements:
        origin = "standard input" if arguments.text is None else repr(arguments.text)
        raise misuse(f"{origin}: holds no statement; give SQL or a file of it")
    print_answers(engine, statements, arguments.format, is_wide=arguments.wide)


def text_of(argument: str | None) -> str:
    """The statements themselves, the contents of a file with this name, or standard input."""
    if argument is None and sys.stdin is None:
        raise misuse("standard input is closed; give SQL there, or SQL or a file of it as argument")
    try:
        is_file = argument is not None and (argument.endswith(".sql") or Path(argument).is_file())
    except (OSError, ValueError):  # too long for a file name, or not a valid one
        is_file = False
    try:
        if argument is None:
            return sys.stdin.buffer.read().decode()
        return Path(argument).read_text(encoding="utf-8") if is_file else argument.encode().decode()
    except OSError as error:
        raise misuse(f"{argument or 'standard input'}: {error.strerror}; give a file of SQL") from None
    except UnicodeEncodeError:
        raise misuse(f"{argument!r}; give SQL in UTF-8") from None
    except ValueError as error:
        raise misuse(f"{argument or 'standard input'}: {error}; give SQL in UTF-8") from None


if __name__ == "__main__":
    from jobs.cli import main

    sys.exit(main(["sql", *sys.argv[1:]]))

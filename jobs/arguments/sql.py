"""The flags of `groupscope sql`."""

import argparse

from jobs.command_line.flags import LOCAL, SPARK, add_format_flag, add_quiet_flag, add_warehouse_flag
from jobs.queries.definitions.dialects import Dialect

DIALECTS = [dialect.value for dialect in Dialect]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "text",
        nargs="?",
        metavar="SQL|FILE",
        help="SQL statements, or a file of them (default: a prompt on a terminal, else standard input)",
    )
    add_warehouse_flag(parser)
    add_format_flag(parser)
    add_quiet_flag(parser)
    parser.add_argument(
        "--engine",
        choices=(LOCAL, SPARK),
        help="what runs the SQL: DuckDB in this process (local, the default) or Spark (the default under "
        "spark-submit), each in its own SQL dialect",
    )
    parser.add_argument(
        "--register", action="store_true", help="create the tables, views and functions in the Spark catalog"
    )
    parser.add_argument("--database", metavar="NAME", help="with --register: the database to create them in")
    parser.add_argument("--print-views", choices=DIALECTS, help="print the SQL that creates all views in this engine")
    parser.add_argument(
        "--print-tables",
        choices=DIALECTS,
        help="print the SQL that makes all tables, at their current versions, known to this engine; run it before that "
        "of --print-views",
    )

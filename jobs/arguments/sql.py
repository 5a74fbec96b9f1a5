"""The flags of `groupscope sql`."""

import argparse

from jobs.command_line.flags import LOCAL, SPARK, add_format_flag, add_quiet_flag, add_warehouse_flag, add_wide_flag
from jobs.queries.definitions.dialects import Dialect

DIALECTS = [dialect.value for dialect in Dialect]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "text",
        nargs="?",
        metavar="SQL|FILE",
        help="SQL statements, or a file with statements (default: on a terminal, ask for statements; otherwise, read "
        "them from standard input)",
    )
    add_warehouse_flag(parser)
    add_format_flag(parser)
    add_wide_flag(parser)
    add_quiet_flag(parser)
    parser.add_argument(
        "--engine",
        choices=(LOCAL, SPARK),
        help="local: run the SQL by DuckDB in this process (the default); spark: run it by Spark (the default under "
        "spark-submit). The SQL must be in the dialect of the engine",
    )
    parser.add_argument(
        "--register", action="store_true", help="create the tables, views and functions in the Spark catalog"
    )
    parser.add_argument("--database", metavar="NAME", help="with --register: the database to create them in")
    parser.add_argument(
        "--print-views",
        choices=DIALECTS,
        help="print the CREATE VIEW statements of all views in the SQL of this product",
    )
    parser.add_argument(
        "--print-tables",
        choices=DIALECTS,
        help="print the SQL that gives all tables a name in this product, at their current versions; run it before the "
        "SQL of --print-views",
    )

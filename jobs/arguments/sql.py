"""The flags of `groupscope sql`."""

import argparse

from jobs.flags import LOCAL, SPARK, add_format_flag, add_warehouse_flag
from jobs.queries.dialects import Dialect

DIALECTS = [dialect.value for dialect in Dialect]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "text",
        nargs="?",
        metavar="SQL|FILE",
        help="statements, or a file of them; left out: a prompt, or standard input where that is no terminal",
    )
    add_warehouse_flag(parser)
    add_format_flag(parser)
    parser.add_argument(
        "--engine",
        choices=(LOCAL, SPARK),
        help="who answers: DuckDB inside this process (local, the default), or Spark (under spark-submit the default), "
        "each in its own words of SQL",
    )
    parser.add_argument(
        "--register", action="store_true", help="put tables, views and functions into the Spark catalog"
    )
    parser.add_argument("--database", metavar="NAME", help="with --register: the database to put them into")
    parser.add_argument("--print-views", choices=DIALECTS, help="print the definitions of all views for this engine")
    parser.add_argument(
        "--print-tables",
        choices=DIALECTS,
        help="print for this engine what makes it know all tables, as they are now; views may follow",
    )

"""The flags of `groupscope capture`."""

import argparse
from pathlib import Path

from jobs.flags import add_warehouse_flags, seconds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", required=True, metavar="kafka:HOST:PORT[,…]", help="the cluster, by some brokers")
    parser.add_argument("--command-config", type=Path, metavar="FILE", help="properties of a Kafka client (SASL, TLS)")
    parser.add_argument(
        "--topic",
        action="append",
        default=[],
        metavar="NAME",
        dest="topics",
        help="a topic beside those that groups commit to; can be repeated",
    )
    parser.add_argument("--every", type=seconds, metavar="SECONDS", help="take one again and again, so far apart")
    parser.add_argument(
        "--for", type=seconds, metavar="SECONDS", dest="lasting", help="for how long (until it is stopped)"
    )
    parser.add_argument("--into", metavar="FILE", help="append lines to the file, not to the warehouse")
    add_warehouse_flags(parser)
    # So that it can be told whether it was given.
    parser.set_defaults(warehouse=None)

"""The flags of `groupscope capture`."""

import argparse
from pathlib import Path

from jobs.command_line.flags import add_warehouse_flags, seconds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--source", required=True, metavar="kafka:HOST:PORT[,…]", help="one or more brokers of the cluster"
    )
    parser.add_argument(
        "--command-config",
        type=Path,
        metavar="FILE",
        help="file with Kafka client properties, such as those for SASL and TLS",
    )
    parser.add_argument(
        "--topic",
        action="append",
        default=[],
        metavar="NAME",
        dest="topics",
        help="also include this topic, although no group commits offsets for it; can be repeated",
    )
    parser.add_argument(
        "--every",
        type=seconds,
        metavar="SECONDS",
        help="seconds from one snapshot to the next (default: take one snapshot)",
    )
    parser.add_argument(
        "--for",
        type=seconds,
        metavar="SECONDS",
        dest="lasting",
        help="with --every: stop after this many seconds (default: run until Ctrl-C or SIGTERM)",
    )
    parser.add_argument(
        "--into",
        metavar="FILE",
        help="append snapshots to this file as JSON lines instead of writing them to the warehouse",
    )
    add_warehouse_flags(parser)
    # None, so that a --warehouse that was typed can be recognized.
    parser.set_defaults(warehouse=None)

"""The flags of `groupscope gate --span`."""

import argparse
import re
from dataclasses import dataclass

EXPECTED = "give TOPIC:PARTITION:FROM:TO[:ROWS], such as orders:3:1200:1500:298"
TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}", re.ASCII)
# Flags of `gate` that have no effect with --span: it checks no table, and waits for no run.
WITHOUT_EFFECT = (
    "fail_on", "since", "exclude_group", "as_of", "result_file", "lock_wait", "engine", "workers",
)  # fmt: skip
NUMBER = re.compile(r"-?[0-9]{1,30}", re.ASCII)


@dataclass(frozen=True)
class Span:
    """`to_offset` is the offset after the last message."""

    topic: str
    partition: int
    from_offset: int
    to_offset: int
    num_rows_written: int | None = None

    def __str__(self) -> str:
        return f"{self.topic}:{self.partition}:{self.from_offset}:{self.to_offset}"


def add_span_arguments(parser: argparse.ArgumentParser) -> None:
    """`--span` also needs `--group NAME`, and `--override` needs `--until T`. Those two flags have other uses too."""
    parser.add_argument(
        "--span",
        type=span,
        action="append",
        metavar="TOPIC:PARTITION:FROM:TO[:ROWS]",
        help="check no table and list no finding; only record that you validated the data made from these messages: "
        "FROM is the first offset, TO the offset after the last, ROWS the number of rows that you wrote from them; "
        "needs --result, and --group with one group id; can be repeated",
    )
    parser.add_argument(
        "--result",
        metavar="FILE",
        help="with --span: file with the Great Expectations result for this data, as JSON (a hyphen in place of the "
        "name: standard input)",
    )
    parser.add_argument(
        "--override",
        metavar="REASON",
        help="with --span: accept the data although validation failed, for this reason; needs --actor, and --until "
        "with the time when the acceptance ends",
    )
    parser.add_argument("--actor", metavar="WHO", help="with --override: who accepts the data")


def span(text: str) -> Span:
    topic, *numbers = text.split(":")
    if len(numbers) not in (3, 4) or not TOPIC.fullmatch(topic) or not all(map(NUMBER.fullmatch, numbers)):
        raise argparse.ArgumentTypeError(f"{text!r}; {EXPECTED}")
    partition, from_offset, to_offset, *rows = map(int, numbers)
    check(text, "PARTITION", partition, 2**31 - 1)
    check(text, "FROM", from_offset, 2**63 - 1)
    check(text, "TO", to_offset, 2**63 - 1)
    if from_offset >= to_offset:
        line = f"{text!r}: FROM is {from_offset} and TO {to_offset}; give a TO above FROM"
        raise argparse.ArgumentTypeError(f"{line}: TO is the offset after the last message")
    for each in rows:
        check(text, "ROWS", each, 2**63 - 1)
    return Span(topic, partition, from_offset, to_offset, *rows)


def check(text: str, name: str, value: int, largest: int) -> None:
    if not 0 <= value <= largest:
        raise argparse.ArgumentTypeError(f"{text!r}: {name} is {value}; give a number from 0 to {largest}")

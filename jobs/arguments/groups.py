"""The flags of `groupscope groups`."""

import argparse

from jobs.command_line.flags import add_at_flag, add_reader_flags, add_wide_flag, any_case
from schemas.words.history import GroupState
from schemas.words.records import GroupType

TYPES = [each.value for each in GroupType]
STATES = [each.value for each in GroupState]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--type", choices=TYPES, type=any_case(TYPES), help="only groups of this type")
    parser.add_argument("--state", choices=STATES, type=any_case(STATES), help="only groups in this state")
    add_at_flag(parser)
    add_reader_flags(parser)
    add_wide_flag(parser)

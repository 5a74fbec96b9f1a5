"""Exit codes of every command."""

from enum import IntEnum


class ExitCode(IntEnum):
    CLEAN = 0
    FAILED = 1
    USAGE = 2
    FINDINGS = 20
    UNREADABLE_INPUT = 21
    REJECTED_SHARE = 22
    UNUSABLE_WAREHOUSE = 23
    INTERRUPTED = 130

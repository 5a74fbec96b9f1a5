"""Exit codes of all commands, each with its meaning."""

from enum import IntEnum


class ExitCode(IntEnum):
    meaning: str

    def __new__(cls, value: int, meaning: str = "") -> "ExitCode":
        member = int.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    CLEAN = 0, "Success: the command finished, and there are no findings at or above `--fail-on`."
    FAILED = (
        1,
        "A failure that is not in this list, such as a worker process that died. Add `--debug` to see where it "
        "happened.",
    )
    USAGE = (
        2,
        "Wrong flags or settings, or a name that the warehouse does not have, such as an unknown group. Nothing was "
        "changed, with one exception: that the log has no such group or time is known to `audit` only when it has read "
        "the log and computed the history.",
    )
    FINDINGS = (
        20,
        "There are findings at or above `--fail-on` (with `-new`: new ones), or a suite of expectations could not be "
        "evaluated, or the report or another file that was asked for could not be written. All tables were written.",
    )
    UNREADABLE_INPUT = (
        21,
        "An input cannot be read, belongs to another Kafka cluster than the warehouse or to another offsets partition "
        "than its folder's name says, or gives no record where none is known. The warehouse stays at the last finished "
        "run.",
    )
    REJECTED_SHARE = (
        22,
        "The share of records that could not be decoded (rejected) or were in damaged bytes is larger than "
        "`max_rejected_share`. Two things do not count: record types and versions of newer Kafka releases, and an "
        "incomplete last batch in the newest segment of a partition. All tables were written.",
    )
    UNUSABLE_WAREHOUSE = (
        23,
        "The warehouse cannot be used: it is busy, read-only, full, damaged, not a Groupscope warehouse, or of an "
        "older or newer release of Groupscope. It stays at the last finished run.",
    )
    INTERRUPTED = 130, "Interrupted, for example by Ctrl-C. The warehouse stays at the last finished run."

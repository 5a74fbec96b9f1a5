"""Exit codes of every command, each with what it means."""

from enum import IntEnum


class ExitCode(IntEnum):
    meaning: str

    def __new__(cls, value: int, meaning: str = "") -> "ExitCode":
        member = int.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    CLEAN = 0, "The command did what it was asked to do, and nothing at or above `--fail-on` was found."
    FAILED = 1, "Something failed that is not in this list. `--debug` shows where."
    USAGE = 2, "Wrong flags or settings, or a question without an answer. Nothing was changed."
    FINDINGS = (
        20,
        "There are findings at or above `--fail-on`, or a suite of expectations could not be evaluated. All tables are "
        "written.",
    )
    UNREADABLE_INPUT = (
        21,
        "An input cannot be read, or belongs to another log than the warehouse. The warehouse stays at the last "
        "finished run.",
    )
    REJECTED_SHARE = (
        22,
        "More records were rejected or damaged than `max_rejected_share` allows. Record types and versions of newer "
        "releases do not count, nor does a torn last batch of a partition's newest segment. All tables are written.",
    )
    UNUSABLE_WAREHOUSE = (
        23,
        "The warehouse cannot be used: busy, read-only, full, not ours, or of a newer release. It stays at the last "
        "finished run.",
    )
    INTERRUPTED = 130, "Interrupted, as by Ctrl-C. The warehouse stays at the last finished run."

"""The file that marks a folder as a Groupscope warehouse, with its contract version."""

import json

from jobs.output.failure import Failure
from schemas.tables import CONTRACT_VERSION
from schemas.words.exit_codes import ExitCode
from schemas.words.records import OFFSETS_TOPIC

MARKER = "_warehouse.json"
REDACTED = "is_redacted"
# What to do, from commands that never create a warehouse.
MADE = "give the folder of a warehouse, or create one with `groupscope audit`"
NEW_OR_MADE = "give a new or empty folder, or a warehouse of groupscope"


def marker_text(*, is_redacted: bool = False) -> str:
    """A redacted copy says so: no run may change it, since its names are other ones than those of the log."""
    return json.dumps({"contract_version": CONTRACT_VERSION} | ({REDACTED: True} if is_redacted else {})) + "\n"


def has_redacted_mark(text: str | None) -> bool:
    return text is not None and json.loads(text).get(REDACTED) is True


def check_marker(text: str | None, root: str, advice: str) -> None:
    """`text`: the marker's content, None if there is no marker."""
    if text is None:
        line = f"{root}: no {MARKER} in it; {advice}"
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, line)
    try:
        version = json.loads(text)["contract_version"]
    except (ValueError, KeyError, TypeError):
        line = f'{root}/{MARKER}: not readable; it must hold {{"contract_version": {CONTRACT_VERSION}}}'
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, line) from None
    if isinstance(version, int) and version < CONTRACT_VERSION:
        line = f"was written by an older release (table format {version}, this release needs {CONTRACT_VERSION})"
        again = f"Read {OFFSETS_TOPIC} again into a new folder: groupscope audit --source … --warehouse NEW"
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{root}: {line}. {again}")
    if not isinstance(version, int) or version > CONTRACT_VERSION:
        line = (
            f"{root}: has table format {version}, this release reads up to {CONTRACT_VERSION}: use a newer groupscope"
        )
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, line)

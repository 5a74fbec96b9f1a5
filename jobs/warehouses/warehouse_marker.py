"""The file that marks a folder as a Groupscope warehouse, with its contract version."""

import json
import shlex

from jobs.output.failure import Failure
from schemas.tables import CONTRACT_VERSION
from schemas.words.exit_codes import ExitCode
from schemas.words.records import OFFSETS_TOPIC

MARKER = "_warehouse.json"
REDACTED = "is_redacted"
# The version whose warehouses runs bring up to this one, see `jobs/runs/version_2.py`.
VERSION_BEFORE = 2
# What to do, from commands that never create a warehouse.
MADE = "give the folder of a warehouse, or create one with `groupscope audit`"
NEW_OR_MADE = "give a new or empty folder, or a warehouse of groupscope"


def marker_text(*, is_redacted: bool = False) -> str:
    """A redacted copy says so: no run may change it, since its names are other ones than those of the log."""
    return json.dumps({"contract_version": CONTRACT_VERSION} | ({REDACTED: True} if is_redacted else {})) + "\n"


def has_redacted_mark(text: str | None) -> bool:
    return text is not None and json.loads(text).get(REDACTED) is True


def how_to_bring(text: str, root: str) -> str:
    if has_redacted_mark(text):
        return f"this release reads {CONTRACT_VERSION}; make the copy again: groupscope report --redact --copy-to …"
    command = f"groupscope replay --warehouse {shlex.quote(root)}"
    return f"this release reads {CONTRACT_VERSION}; the next run brings it up to date and keeps all of it: {command}"


def version_in(text: str) -> object:
    """As the marker says it; None: it says none."""
    try:
        return json.loads(text)["contract_version"]
    except (ValueError, KeyError, TypeError):
        return None


def check_marker(text: str | None, root: str, advice: str, *, may_be_before: bool = False) -> None:
    """`text`: the marker's content, None if there is no marker. `may_be_before`: of the version that runs bring up to
    this one."""
    if text is None:
        line = f"{root}: no {MARKER} in it; {advice}"
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, line)
    version = version_in(text)
    if version is None:
        line = f'{root}/{MARKER}: not readable; it must hold {{"contract_version": {CONTRACT_VERSION}}}'
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, line)
    if version == VERSION_BEFORE:
        if not may_be_before:
            raise Failure(
                ExitCode.UNUSABLE_WAREHOUSE, f"{root}: has table format {version}, {how_to_bring(text, root)}"
            )
        return
    if isinstance(version, int) and version < CONTRACT_VERSION:
        line = f"was written by an older release (table format {version}, this release needs {CONTRACT_VERSION})"
        again = f"Read {OFFSETS_TOPIC} again into a new folder: groupscope audit --source … --warehouse NEW"
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{root}: {line}. {again}")
    if not isinstance(version, int) or version > CONTRACT_VERSION:
        line = (
            f"{root}: has table format {version}, this release reads up to {CONTRACT_VERSION}: use a newer groupscope"
        )
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, line)

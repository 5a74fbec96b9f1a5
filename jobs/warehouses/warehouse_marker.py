"""The file that marks a folder as a Groupscope warehouse, with its contract version."""

import json

from jobs.output.failure import Failure
from schemas.contract.tables import CONTRACT_VERSION
from schemas.words.exit_codes import ExitCode
from schemas.words.records import OFFSETS_TOPIC

MARKER = "_warehouse.json"
# What is expected by commands that never create a warehouse.
MADE = "a warehouse that `ingest` made"
NEW_OR_MADE = "a new or empty folder or a warehouse of groupscope"


def marker_text() -> str:
    return json.dumps({"contract_version": CONTRACT_VERSION}) + "\n"


def check_marker(text: str | None, root: str, expected: str) -> None:
    """`text`: the marker's content, None if there is no marker."""
    if text is None:
        told = f"{root}: no {MARKER} in it, {expected} was expected"
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, told)
    try:
        version = json.loads(text)["contract_version"]
    except (ValueError, KeyError, TypeError):
        told = f'{root}/{MARKER}: not readable, {{"contract_version": {CONTRACT_VERSION}}} was expected'
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, told) from None
    if isinstance(version, int) and version < CONTRACT_VERSION:
        told = f"was written by an older release (table format {version}, this release needs {CONTRACT_VERSION})"
        again = f"Read {OFFSETS_TOPIC} again into a new folder: groupscope audit --source … --warehouse NEW"
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, f"{root}: {told}. {again}")
    if not isinstance(version, int) or version > CONTRACT_VERSION:
        told = (
            f"{root}: has table format {version}, this release reads up to {CONTRACT_VERSION}: use a newer groupscope"
        )
        raise Failure(ExitCode.UNUSABLE_WAREHOUSE, told)

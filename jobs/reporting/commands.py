"""Commands that the page names: what to run next."""

import re
import shlex
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from schemas.words.gate import FindingKind
from schemas.words.records import OFFSETS_TOPIC

# Longer names make no command that anybody types.
MOST_IN_COMMAND = 200
# Where every command looks if no --warehouse is given.
DEFAULT_WAREHOUSE = "warehouse"
OF_ASSIGNMENT = (FindingKind.ASSIGNMENT_DRIFT, FindingKind.STALE_ASSIGNMENT, FindingKind.PARTITIONS_UNOWNED)


def command(name: str, warehouse: str, *words: str) -> str:
    place = [] if warehouse == DEFAULT_WAREHOUSE else ["--warehouse", warehouse]
    return shlex.join(["groupscope", name, *place, *words])


def is_typed(group: str | None) -> bool:
    return group is not None and 0 < len(group) <= MOST_IN_COMMAND and group.isprintable()


def of_group(name: str, warehouse: str, group: str | None, *words: str) -> str | None:
    if group is None or not is_typed(group):
        return None
    return command(name, warehouse, *words, *(["--"] if group.startswith("-") else []), group)


def why_around(group: str, warehouse: str) -> list[str] | None:
    """The command `why` for any time: what comes before it, and after. A group that is a hash has none."""
    whole = of_group("why", warehouse, group, "--at", time_word(0))
    return None if whole is None else [*whole.partition(time_word(0))[::2]]


def time_word(at: int) -> str:
    """As --at takes it, in UTC."""
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def next_command(row: Mapping[str, Any], warehouse: str, at: int | None) -> str:
    """For a finding."""
    name, *more = ["status"] if at is None else ["why", "--at", time_word(at)]
    if row["kind"] in OF_ASSIGNMENT:
        name, more = "whatif", []
    elif row["kind"] == FindingKind.OFFSETS_EXPIRING:
        name, more = "describe", ["--offsets"]
    return of_group(name, warehouse, row["group_id"], *more) or command("sql", warehouse, query_of(row))


def query_of(row: Mapping[str, Any]) -> str:
    return f"SELECT query FROM findings WHERE run_id = '{row['run_id']}' AND rank = {row['rank']}"


def dump_command(row: Mapping[str, Any], logs: Mapping[int, str]) -> str | None:
    """It begins with the first record of the evidence, where that is known. `logs`: a segment file of each offsets
    partition."""
    partition = row["evidence_partition"]
    if partition is None:
        return None
    folder = PurePosixPath(logs[partition]).parent if partition in logs else f"{OFFSETS_TOPIC}-{partition}"
    group = row["group_id"]
    only = f" --group {shlex.quote(f'^{re.escape(group)}$')}" if is_typed(group) else ""
    first = row["evidence_first_offset"]
    start = "" if first is None else f" --from-offset {first}"
    return f"groupscope dump{only}{start} {shlex.quote(str(folder))}/*.log"

"""The page that an audit prints: what was read, what came of it, and how to look further."""

from collections.abc import Iterator, Mapping
from typing import Any

from jobs.ingestion.state import LIVE
from jobs.row_output import row_lines
from jobs.warehouses.any_warehouse import AnyWarehouse
from schemas.exit_codes import ExitCode
from schemas.tables import TABLES

MEANINGS = {
    ExitCode.CLEAN: "clean",
    ExitCode.REJECTED_SHARE: "more records rejected than max_rejected_share allows",
}


def page(warehouse: AnyWarehouse, result: Mapping[str, Any]) -> Iterator[str]:
    code = ExitCode(int(result["exit_code"]))
    yield f"Audit of cluster {result['cluster']}, run {result['run_id']}"
    yield ""
    yield f"Exit code    {int(code)}: {MEANINGS[code]}"
    yield f"Read         {things_read(result)}"
    yield f"Records      {result['read']:,} read: {counts(result)}"
    for reason, number in result["reject_reasons"].items():
        yield f"             {number:,} rejected: {reason}"
    replay, assignments = result["replay"], result["assignments"]
    yield f"Replayed     {replay['num_records']:,} records of {replay['num_partitions']:,} offsets partitions"
    yield f"Assignments  {assignments['num_assignments']:,} recomputed: {verdicts(assignments['verdicts'])}"
    yield f"             {sum(assignments['all_verdicts'].values()):,} so far: {verdicts(assignments['all_verdicts'])}"
    yield f"Took         {sum(each['seconds'] for each in (result, replay, assignments)):.1f} s"
    yield f"Warehouse    {warehouse.told}"
    yield ""
    yield from row_lines(("table", "rows", "added", "grain"), table_rows(warehouse, result), "table")
    yield ""
    yield f'Ask it: groupscope sql --warehouse {warehouse.told} "SELECT * FROM v_decode_coverage"'


def verdicts(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {verdict}" for verdict, number in numbers.items() if number) or "none"


def things_read(result: Mapping[str, Any]) -> str:
    if result["source"] == LIVE:
        return f"{result['num_files_read']:,} ranges of offsets"
    return f"{result['num_files_read']:,} files ({result['num_files_unchanged']:,} more are unchanged)"


def counts(result: Mapping[str, Any]) -> str:
    return f"{result['decoded']:,} decoded, {result['rejected']:,} rejected, {result['already_known']:,} already known"


def table_rows(warehouse: AnyWarehouse, result: Mapping[str, Any]) -> list[tuple[str, int, int, str]]:
    """Every table of the warehouse."""
    num_rows = warehouse.num_rows()
    return [
        (name, num_rows[name], int(result["rows_added"].get(name, 0)), TABLES[name].grain)
        for name in TABLES
        if name in num_rows
    ]

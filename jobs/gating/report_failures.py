"""What an audit could not write, although all tables are written: its report, or a file that a flag asks for.

Its run page says so at once. A run of the job `report` keeps it in the warehouse: a row of `runs`, and one of
`findings`, which the next gate lists among its own. It does so until a later audit wrote everything.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa
from deltalake.exceptions import DeltaError

from jobs.engine.engine import Engine
from jobs.gating.findings import Finding, finding_rows
from jobs.gating.options import counts
from jobs.gating.run import Gate
from jobs.output.failure import Failure, os_error_line
from jobs.queries.definitions.dialects import portable_text
from jobs.runs.result import with_failures
from jobs.runs.run import Run, RunOptions, RunOutcome, execute
from jobs.warehouses.delta_tables import Change
from jobs.warehouses.manifest import unfinished_manifests
from jobs.warehouses.table_files import TableFile
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import REPORT_JOB, TABLES
from schemas.words.exit_codes import ExitCode
from schemas.words.gate import FindingKind
from udfs.arrays.arrow_schema import table_schema

KIND = FindingKind.REPORT_FAILED
Row = dict[str, Any]


@dataclass(frozen=True)
class Outputs:
    """`failures`: of what could not be written, one line each."""

    gate: Gate
    fail_on: str
    failures: tuple[str, ...] = ()

    def and_failed(self, failure: Failure) -> "Outputs":
        return Outputs(self.gate, self.fail_on, (*self.failures, str(failure)))

    @property
    def before(self) -> Row | None:
        """What the gate lists of an earlier audit."""
        return next((row for row in self.gate.findings if row["kind"] == KIND), None)

    @property
    def row(self) -> Row | None:
        """The finding; None: everything was written."""
        if not self.failures:
            return None
        began, cluster = self.gate.started, self.gate.run.cluster
        if self.before is not None and self.before["since_time"] is not None:
            began = self.before["since_time"]
        ours = f"cluster = {portable_text(cluster)} AND job = '{REPORT_JOB}'"
        query = f"SELECT * FROM runs WHERE {ours} ORDER BY run_id DESC"
        made = Finding(KIND.value, KIND.severity.value, "; ".join(self.failures), query, since_time=began)
        (row,) = finding_rows([made], self.gate.about, self.gate.as_of, {}, self.gate.waivers)
        if self.before is None:
            return row
        return row | {"is_new": False, "first_seen_time": self.before["first_seen_time"]}

    @property
    def findings(self) -> list[Row]:
        """Of the run page: those of the gate, and the failure after the others that are critical."""
        row, others = self.row, self.gate.findings
        if row is None:
            return others
        others = [each for each in others if each["kind"] != KIND]
        place = sum(each["severity"] == row["severity"] and each["waived_until_time"] is None for each in others)
        return [*others[:place], row, *others[place:]]

    def judged(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """The result of the audit with the failures in it."""
        row = self.row
        if row is None or row["waived_until_time"] is not None:
            return {**result, "report_failed": list(self.failures)}
        code = ExitCode.FINDINGS if counts(row, self.fail_on) else ExitCode.CLEAN
        return with_failures(result, self.failures, code)


@dataclass(frozen=True)
class WrittenOutputs:
    """The run that keeps it."""

    outputs: Outputs
    name = REPORT_JOB

    def make(self, run: Run) -> RunOutcome:
        row, as_of = self.outputs.row, self.outputs.gate.as_of
        change = Change() if row is None else added(run, row | {"run_id": run.run_id})
        about = self.outputs.judged({"verdict": "clean", "exit_code": ExitCode.CLEAN})
        return RunOutcome(
            {"findings": change},
            lambda _: {"report_failed": about["report_failed"]},
            {"as_of_time": ms(as_of)},
            about["exit_code"],
            about["verdict"],
        )


def added(run: Run, row: Row) -> Change:
    file = TableFile(run.warehouse.path("findings"), TABLES["findings"], run.run_id)
    file.write(pa.Table.from_pylist([row], table_schema(TABLES["findings"])))
    done = file.close()
    return Change() if done is None else Change((done,))


def ms(time: datetime) -> int:
    return round(time.timestamp() * 1000)


def kept(outputs: Outputs, warehouse: Warehouse, options: RunOptions, engine: Engine) -> Outputs:
    """Nothing is written while there is nothing to say. What fails here too is said with the rest, unless the run got
    as far as its manifest: the next one completes it."""
    if not outputs.failures and outputs.before is None:
        return outputs
    try:
        execute(WrittenOutputs(outputs), warehouse, options, engine)
    except (OSError, DeltaError, Failure) as error:
        if is_begun(warehouse):
            return outputs
        line = os_error_line(error, warehouse.address) if isinstance(error, OSError) else str(error)
        return outputs.and_failed(Failure(ExitCode.FINDINGS, f"the next run cannot know of it: {line}"))
    return outputs


def is_begun(warehouse: Warehouse) -> bool:
    try:
        return bool(unfinished_manifests(warehouse.root))
    except (OSError, Failure):
        return False

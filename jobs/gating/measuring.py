"""Computes the metrics of every table: one statement per table, run by the engine of the run."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from jobs.gating.declarations.metric_files import ALL, SLICE, Metrics, misuse
from jobs.gating.declarations.sql_text import Parameters
from jobs.output.failure import Failure
from jobs.queries.results import QueryResult
from schemas.words.exit_codes import ExitCode

Value = float | None


@dataclass(frozen=True)
class Frame:
    """Metrics of one table: one row per slice."""

    table: str
    slices: Sequence[str]
    values: Mapping[str, Sequence[Value]]

    @property
    def has_rows(self) -> bool:
        """Whether the table has rows: by `num_rows`, else by whether it has a slice."""
        return bool(self.slices) and any(value != 0 for value in self.values.get("num_rows", (1,)))

    def total(self, metric: str) -> float:
        return sum(value for value in self.values[metric] if value is not None)


def measure(
    metrics: Mapping[str, Metrics], parameters: Parameters, answer: Callable[[str], QueryResult]
) -> Iterator[Frame]:
    for each in metrics.values():
        yield frame(each, answer_of(each, each.statement(parameters), answer))


def answer_of(metrics: Metrics, statement: str, answer: Callable[[str], QueryResult]) -> QueryResult:
    try:
        names, rows = answer(statement)
        return QueryResult(names, list(rows))
    except Failure as failure:
        if failure.code == ExitCode.UNUSABLE_WAREHOUSE:
            # The statement has no part in it.
            raise
        raise Failure(failure.code, f"{metrics.place}: {failure}") from None


def frame(metrics: Metrics, answer: QueryResult) -> Frame:
    names, rows = list(answer.names), list(answer.rows)
    check_columns(metrics, names)
    if SLICE in names:
        place = names.index(SLICE)
        # Engines return groups in any order.
        rows.sort(key=lambda row: str(row[place]))
        slices = [str(row[place]) for row in rows]
        check_slices(metrics, slices)
    else:
        slices = [ALL] * len(rows)
        if len(rows) != 1:
            raise misuse(
                metrics.place,
                f"the query has {len(rows)} rows; give one row, or a column named slice with one value a row",
            )
    columns = {name: [number(metrics, name, row[place]) for row in rows] for place, name in enumerate(names)
               if name != SLICE}  # fmt: skip
    return Frame(metrics.table, slices, columns)


def check_columns(metrics: Metrics, names: Sequence[str]) -> None:
    columns = [name for name in names if name != SLICE]
    for name in columns:
        if name not in metrics.metrics:
            raise misuse(metrics.place, f"column {name} has no description; add the line `-- {name}: what it is`")
    for name in metrics.metrics:
        if name not in columns:
            raise misuse(
                metrics.place, f"the line `-- {name}: …` describes a metric, but the query has no column {name}"
            )


def check_slices(metrics: Metrics, slices: Sequence[str]) -> None:
    for before, after in pairwise(slices):
        if before == after:
            raise misuse(
                metrics.place,
                f"several rows of the query have {after!r} in the column slice; each value may be in one row only",
            )


def number(metrics: Metrics, name: str, value: object) -> Value:
    if value is None:
        return None
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise misuse(metrics.place, f"metric {name} = {value!r}; give a number") from None

"""One replay of commits by hand. Offsets are those of the log, and a record's time is its offset in seconds."""

from typing import Any

import pyarrow as pa

from tests.builders.groups.offset_logs import (
    Row,
    commits_table,
    markers_table,
)
from udfs.commits.group_questions import Questions
from udfs.commits.link_commits import Finished, OffsetReplay
from udfs.commits.offset_endings import OffsetFacts
from udfs.commits.shown_states import whole_state

S = 1_000_000


class Run:
    """All rows of one replay of a log in one chunk."""

    def __init__(
        self, *log: Row, facts: OffsetFacts | None = None, questions: Questions | None = None,
        state: pa.Table | None = None,
    ) -> None:  # fmt: skip
        run = OffsetReplay("c", 0, state, questions or Questions.none(), facts or OffsetFacts())
        closed = run.take(commits_table(list(log)), markers_table(list(log)))
        self.finished: Finished = run.finish()
        self.tables = {
            name: [*rows.to_pylist(), *self.finished.closed[name].to_pylist(), *self.open(name)]
            for name, rows in closed.items()
        }
        self.history, self.transactions = self.tables["offset_history"], self.tables["transactions"]

    @property
    def state(self) -> pa.Table:
        return state_after(self.finished)

    def open(self, name: str) -> list[Row]:
        rows: list[Row] = self.finished.open[name].to_pylist() if name in self.finished.open else []
        return rows

    def select(self, *columns: str) -> list[tuple[Any, ...]]:
        return [tuple(row[name] for name in columns) for row in self.history]


def state_after(finished: Finished) -> pa.Table:
    return whole_state(finished.state, finished.open["offset_history"])


def older_rules(run: Run) -> list[tuple[Any, ...]]:
    """Of pending commits that older coordinators bring back: the group, the commit's record and the marker."""
    result = [row for row in run.tables["replay_anomalies"] if row["kind"] == "older_rule"]
    assert all(row["record_offset"] == row["evidence_last_offset"] for row in result)
    return [(row["group_id"], row["severity"], row["evidence_first_offset"], row["record_offset"]) for row in result]

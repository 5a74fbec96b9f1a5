"""Rows of `assignment_audit` whose verdict waits for the group's last target. They wait on the disk of this machine:
where another class bears an assignor's name, all rows of its groups do, and each may list a thousand partitions."""

import pickle
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import IO

from udfs.audit.checks.results import AuditRow, Trial
from udfs.audit.checks.rows import judged


@dataclass
class WaitingRows:
    """`file` has no name: it is gone when the process ends, however that is. None: no row waits. `trials`: of the rows
    of each window, in order. They stay in memory, where targets that follow change them."""

    file: IO[bytes] | None = None
    trials: list[list[Trial | None]] = field(default_factory=list)

    def without_waiting(self, rows: Sequence[AuditRow]) -> list[AuditRow]:
        """Takes the rows that wait; returns the others."""
        if waiting := [row for row in rows if row.trial is not None]:
            self.file = self.file or tempfile.TemporaryFile()  # noqa: SIM115
            self.trials.append([row.trial for row in waiting])
            pickle.dump([replace(row, trial=None) for row in waiting], self.file)
        return [row for row in rows if row.trial is None]

    def judged(self) -> Iterator[list[AuditRow]]:
        if self.file is None:
            return
        self.file.seek(0)
        with self.file:
            for trials in self.trials:
                rows: list[AuditRow] = pickle.load(self.file)
                yield [judged(replace(row, trial=trial)) for row, trial in zip(rows, trials, strict=True)]

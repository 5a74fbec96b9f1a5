"""A plugin of pytest that hands files of tests to processes as pytest-xdist does, also when one of them dies, and that
gives files whose tests use Spark to half of the processes while there are others: each process that runs one starts a
Spark of its own.

Version 3.8.0 of it puts all files that a dead process had on the list again, finished ones too. Processes that are then
given nothing to run wait for ever, and the test that killed one process kills the next (pytest-dev/pytest-xdist#1378,
#1371). It also gives files to a process that has started in the place of a dead one and does not know its tests yet:
they are never sent to it. To be deleted with the first release that has all three mended.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

# A process runs a test when it knows the next one, or that there is none.
AT_LEAST_KNOWN = 2
SPARK_MARK = "mark.spark"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    return FileDistribution(config, log) if config.getvalue("dist") == "loadfile" else None


class FileDistribution(LoadFileScheduling):
    def remove_node(self, node: WorkerController) -> str | None:
        """The test during which the process died, if it did. It has failed; what was not run is for others."""
        files = self.assigned_work.pop(node)
        not_run = [(file, test) for file, tests in files.items() for test, is_done in tests.items() if not is_done]
        if not not_run:
            return None
        file, died_in = not_run[0]
        files[file][died_in] = True
        self.workqueue.update({file: tests for file, tests in files.items() if not all(tests.values())})
        for other in self.nodes:
            self._reschedule(other)
        return died_in

    def _assign_work_unit(self, node: WorkerController) -> None:
        for_spark = self.nodes[: (len(self.nodes) + 1) // 2]
        preferred = next(self.files_left(with_spark=node in for_spark), None)
        if preferred is not None:
            self.workqueue.move_to_end(preferred, last=False)
        super()._assign_work_unit(node)

    def files_left(self, *, with_spark: bool) -> Iterator[str]:
        return (file for file in self.workqueue if uses_spark(self.config.rootpath / file) is with_spark)

    def _reschedule(self, node: WorkerController) -> None:
        """A process that has not collected its tests yet comes here again when it has."""
        if node not in self.registered_collections:
            return
        super()._reschedule(node)
        while self.workqueue and not node.shutting_down and self._pending_of(self.assigned_work[node]) < AT_LEAST_KNOWN:
            self._assign_work_unit(node)
        if not self.workqueue:
            node.shutdown()


@cache
def uses_spark(file: Path) -> bool:
    return SPARK_MARK in file.read_text()

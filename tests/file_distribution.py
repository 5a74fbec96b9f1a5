"""A plugin of pytest that hands files of tests to processes as pytest-xdist does, also when one of them dies.

Version 3.8.0 of it puts all files that a dead process had on the list again, finished ones too. Processes that are then
given nothing to run wait for ever, and the test that killed one process kills the next (pytest-dev/pytest-xdist#1378,
#1371). To be deleted with the first release that has both mended.
"""

from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

# A process runs a test when it knows the next one, or that there is none.
AT_LEAST_KNOWN = 2


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

    def _reschedule(self, node: WorkerController) -> None:
        super()._reschedule(node)
        while self.workqueue and not node.shutting_down and self._pending_of(self.assigned_work[node]) < AT_LEAST_KNOWN:
            self._assign_work_unit(node)
        if not self.workqueue:
            node.shutdown()

"""What a test does to the world while a run is at a named step."""

import os
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from jobs.storage import failpoints
from jobs.storage.failpoints import VARIABLE

# After these steps the rows are there for readers.
DONE = {"runs_committed", "manifest_removed"}


@contextmanager
def at(point, act):
    """Acts once, where a failpoint would kill the run."""
    done = []

    def once(_, __):
        if not done:
            done.append(point)
            act()

    with pytest.MonkeyPatch.context() as patch:
        of_process = SimpleNamespace(environ={VARIABLE: point}, getpid=os.getpid, kill=once)
        patch.setattr(failpoints, "os", of_process)
        yield
    assert done, f"the run never came to {point}"

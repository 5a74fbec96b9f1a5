"""Named points at which a test can kill a run, to check that nothing is lost."""

import os
import signal

VARIABLE = "GROUPSCOPE_FAILPOINT"
# Each is `name` or `name:table`, in the order in which a run reaches them.
FAILPOINTS = (
    "file_written",
    "files_written",
    "manifest_written",
    "table_committed",
    "runs_committed",
    "manifest_removed",
)


def failpoint(name: str, table: str | None = None) -> None:
    if os.environ.get(VARIABLE) in (name, f"{name}:{table}"):
        os.kill(os.getpid(), signal.SIGKILL)

"""What a task does: its shares one after the other, into files of all tables.

It runs in a process of whichever engine the run has, or in the driver when there is little to do.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from jobs.failure import Failure, os_error_line
from jobs.replaying.history_files import HistoryFiles
from jobs.replaying.log_files import Opened
from jobs.replaying.told import Answer, Share, Told, Work
from jobs.spark.kept_memory import keep_memory
from schemas.exit_codes import ExitCode


def answer(work: Work, told: Told[Any], shares: Sequence[Share]) -> Answer[Any]:
    """A failure that a user can act on is an answer too: an engine tells of an exception as of a fault."""
    pa.set_cpu_count(1)
    keep_memory()
    files = HistoryFiles(told.root, told.run_id)
    found: Answer[Any] = Answer()
    opened = Opened()
    try:
        for share in shares:
            work(told, share, files, opened, found)
        found.files = files.close()
    except (Failure, OSError) as error:
        files.abandon()
        if isinstance(error, Failure):
            return Answer(failure=(error.code, str(error)))
        return Answer(failure=(ExitCode.UNUSABLE_WAREHOUSE, os_error_line(error, told.root)))
    except BaseException:
        files.abandon()
        raise
    for name, file in found.files:
        found.num_rows[name] = found.num_rows.get(name, 0) + file.num_rows
    return found


def answer_to(work: Work, given: tuple[Told[Any], Sequence[Share]]) -> Answer[Any]:
    return answer(work, *given)

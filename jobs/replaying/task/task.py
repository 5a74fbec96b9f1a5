"""A task of a job that reads the log: does its slices one after the other and writes files of all tables.

It runs in a process of the run's engine, or in the driver if there is little to do.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from jobs.engine.task import Closing
from jobs.output.failure import Failure, os_error_line
from jobs.processes.freed_memory import keep_memory
from jobs.replaying.log.opened import Opened
from jobs.replaying.tables.history_files import HistoryFiles
from jobs.replaying.task.messages import LogTaskResult, PartitionSlice, RunInput, Work
from jobs.warehouses.table_files import Waiting
from schemas.words.exit_codes import ExitCode


def run_task(
    work: Work, run_input: RunInput[Any], slices: Sequence[PartitionSlice]
) -> LogTaskResult[Any] | Closing[LogTaskResult[Any]]:
    """A failure that a user can act on is a result too: an engine would report an exception as a crash."""
    pa.set_cpu_count(1)
    keep_memory()
    files = HistoryFiles(run_input.root, run_input.run_id)
    result: LogTaskResult[Any] = LogTaskResult()
    opened = Opened()
    try:
        for partition_slice in slices:
            work(run_input, partition_slice, files, opened, result)
        result.files, wait = files.closing()
    except BaseException as error:
        return failure_result(run_input, files, error)
    for name, file in result.files:
        result.num_rows[name] = result.num_rows.get(name, 0) + file.num_rows
    return Closing(partial(closed_answer, run_input, files, wait, result))


def closed_answer(
    run_input: RunInput[Any], files: HistoryFiles, wait: Waiting, result: LogTaskResult[Any]
) -> LogTaskResult[Any]:
    try:
        wait()
    except BaseException as error:
        return failure_result(run_input, files, error)
    return result


def failure_result(run_input: RunInput[Any], files: HistoryFiles, error: BaseException) -> LogTaskResult[Any]:
    files.abandon()
    if isinstance(error, Failure):
        return LogTaskResult(failure=(error.code, str(error)))
    if isinstance(error, OSError):
        return LogTaskResult(failure=(ExitCode.UNUSABLE_WAREHOUSE, os_error_line(error, run_input.root)))
    raise error


def answer_to(
    work: Work, given: tuple[RunInput[Any], Sequence[PartitionSlice]]
) -> LogTaskResult[Any] | Closing[LogTaskResult[Any]]:
    return run_task(work, *given)

"""Runs commands, each in a fork of its own, which a test may kill; all use the one Spark that was started before them.

A line in is a command's arguments and its environment as JSON; a line out is its exit code, or minus the signal that
ended it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from jobs import cli
from jobs.spark.session import quiet_session
from tests.jobs.ingested import ROOT


def main() -> None:
    # No storage is reached here: threads that do it would not live on in a fork.
    context = quiet_session("tests", 2, is_debug=False).sparkContext
    with os.fdopen(os.dup(sys.stdout.fileno()), "w") as codes:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        for line in sys.stdin:
            words, environment = json.loads(line)
            child = os.fork()
            if child == 0:
                os.environ.update(environment)
                # Of workers: Java has started before.
                context.environment.update(environment)
                os._exit(cli.main(words))
            _, status = os.waitpid(child, 0)
            codes.write(f"{os.waitstatus_to_exitcode(status)}\n")
            codes.flush()


class ForkedRuns:
    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def run(self, words: Sequence[str | Path], environment: Mapping[str, str]) -> int:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps([list(map(str, words)), dict(environment)]) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


@contextmanager
def forked_runs() -> Iterator[ForkedRuns]:
    command = [sys.executable, "-m", "tests.faults.forked_runs"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield ForkedRuns(process)
        assert process.stdin is not None
        process.stdin.close()
        process.wait(120)


if __name__ == "__main__":
    main()

"""Processes that answer line by line, and stay for the next question: Java takes longer to start than to answer.

An empty line asks for the answers to all lines before it.
"""

import atexit
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from typing import IO, Final

Command = tuple[str, ...]

# Each takes memory, and who asks one again has mostly asked no other in between.
MOST_KEPT: Final = 2


@dataclass(frozen=True)
class LineProcess:
    process: "subprocess.Popen[str]"
    said: IO[str]

    def answers(self, lines: Sequence[str]) -> list[str]:
        # Beside the reading: a pipe that is full stops both sides.
        asking = Thread(target=self.ask, args=(lines,), daemon=True)
        asking.start()
        assert self.process.stdout is not None
        result = [self.process.stdout.readline() for _ in lines]
        asking.join()
        if not all(result):
            self.process.wait()
            self.said.seek(0)
            raise RuntimeError(self.said.read())
        return result

    def ask(self, lines: Sequence[str]) -> None:
        assert self.process.stdin is not None
        # Its end shows where answers are missing.
        with suppress(BrokenPipeError):
            self.process.stdin.write("".join(f"{line}\n" for line in (*lines, "")))
            self.process.stdin.flush()

    def close(self) -> None:
        self.process.kill()
        # Of a process that ended before it was asked, which says so itself.
        with self.said, suppress(BrokenPipeError), self.process:
            pass


# Oldest question first.
KEPT: Final[dict[Command, LineProcess]] = {}


def answered_lines(command: Command, lines: Sequence[str]) -> list[str]:
    kept = KEPT.pop(command, None) or started(command)
    try:
        answers = kept.answers(lines)
    except BaseException:
        # Answers that nobody read would be taken for those to the next question.
        kept.close()
        raise
    KEPT[command] = kept
    while len(KEPT) > MOST_KEPT:
        KEPT.pop(next(iter(KEPT))).close()
    return answers


def started(command: Command) -> LineProcess:
    said = tempfile.TemporaryFile("w+")  # noqa: SIM115 (as long as the process)
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True)
    return LineProcess(process, said)


@atexit.register
def close_all() -> None:
    while KEPT:
        KEPT.popitem()[1].close()

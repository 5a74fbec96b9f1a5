"""Kafka's own assignors as a rival that runs one round whenever it is asked to."""

import json
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.assignor_cases import Case
from jobs.spark.jars import jar_folder
from tests.kafka.jar_sets import KAFKA_4_3_1
from tests.kafka.java_programs import compile_java, java_command

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "benchmarks" / "java" / "AssignorRounds.java"
TOPICS = ROOT / "tests" / "oracles" / "assignors" / "java" / "topics_4_3" / "Topics.java"
HEAP = ("-Xms1g", "-Xmx6g")
# A call that takes longer counts as long as this.
LIMIT_SECONDS = 20.0


class OverLimit(Exception):
    """Kafka's own class was not ready in time."""


class AssignorRounds:
    def __init__(self) -> None:
        kafka = jar_folder(KAFKA_4_3_1)
        classes = compile_java([SOURCE, TOPICS], [kafka])
        self.command = java_command(SOURCE.stem, [classes, kafka], [str(LIMIT_SECONDS)], HEAP)
        self.process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def end(self) -> None:
        """The next question starts a new process."""
        if self.process:
            self.process.communicate()
            self.process = None

    def prepare(self, case: Case) -> None:
        self.ask(case.command())

    def warm(self, seconds: float) -> None:
        """At least one round. Java compiles a call better for some ten thousand rounds."""
        self.ask(f"warm {seconds}")

    def seconds(self) -> float:
        return float(self.ask("round")["seconds"])

    def digest(self) -> int:
        """What the last round answered, as one number."""
        return int(self.ask("digest")["digest"])

    def ask(self, line: str) -> dict[str, Any]:
        if self.process is None:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answered = self.process.stdout.readline()
        if not answered:
            raise RuntimeError(f"{SOURCE.stem} ended with exit code {self.process.wait()}")
        answer: dict[str, Any] = json.loads(answered)
        if "is_over" in answer:
            # The call cannot be stopped but with its process.
            self.end()
            raise OverLimit
        return answer

"""Kafka's own deserialisers as a rival that runs one round whenever it is asked to."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from jobs.spark.jars import jar_folder
from tests.kafka.jar_sets import KAFKA_4_3_1
from tests.kafka.java_programs import compile_java, java_command

SOURCE = Path(__file__).parent / "java" / "SerdeRounds.java"
# Its compiler optimises while it runs: three rounds of a million records are enough for it to settle.
# Its memory is taken and touched before the first round: page faults in the middle of one would count as its time.
HEAP = ("-Xms4g", "-Xmx6g", "-Xmn256m", "-XX:+AlwaysPreTouch")
WARM_UP = 6


class SerdeRounds:
    def __init__(self, segments: Sequence[Path]) -> None:
        kafka = jar_folder(KAFKA_4_3_1)
        classpath = [compile_java([SOURCE], [kafka]), kafka]
        command = java_command(SOURCE.stem, classpath, [str(segment) for segment in segments], HEAP)
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def __enter__(self) -> Self:
        self.counts = self.answer()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.communicate()

    def warm_up(self, command: str) -> None:
        for _ in range(WARM_UP):
            self.seconds(command)

    def seconds(self, command: str) -> float:
        assert self.process.stdin is not None
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return float(self.answer()["seconds"])

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{SOURCE.stem} ended with exit code {self.process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

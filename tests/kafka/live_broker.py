"""What tests of live reading do with a broker: let scenarios play, read it, and copy its files away."""

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from jobs.spark.jars import jar_folder
from tests.kafka.broker import Broker, kafka_command
from tests.kafka.capture import run_phase, scenario_sources
from tests.kafka.fresh_brokers import PlayError
from tests.kafka.java_programs import compile_java
from tests.kafka.phases import Phase
from tests.kafka.releases import Release
from tests.runs.ingested import history, ingest

History = dict[str, list[str]]
PLAY_SECONDS: Final = 600


def play(broker: Broker, folder: Path, *scenarios: str) -> None:
    folder.mkdir(exist_ok=True)
    classes = compile_java(scenario_sources(broker.release), [jar_folder(each) for each in broker.release.jar_sets])
    run_phase(broker, Phase(scenarios), classes, folder)


def ingest_live(warehouse: Path, broker: Broker, *arguments: str | Path) -> dict[str, Any]:
    return ingest(warehouse, "--source", f"kafka:{broker.bootstrap}", *arguments)


@dataclass(frozen=True)
class KeptLog:
    """What is kept of a broker that has ended: its log, and snapshots of its cluster."""

    folder: Path

    @property
    def log_dir(self) -> Path:
        """As a broker's: a folder for each partition of the offsets topic."""
        return self.folder / "log"

    @property
    def snapshots(self) -> Path:
        return self.folder / "snapshots.jsonl"


def play_program(
    broker: Broker,
    clients: Release,
    main: str,
    programs: Sequence[Path],
    arguments: Sequence[str | Path],
    into: KeptLog,
) -> None:
    """Runs a Java program of some release's clients against the broker, ends the broker and keeps its log."""
    classes = compile_java(programs, [jar_folder(each) for each in clients.jar_sets])
    words = [broker.bootstrap, *map(str, arguments)]
    command = kafka_command(clients, main, words, classes, options=broker.scratch_options)
    output = into.folder / "played.out"
    with output.open("wb") as said:
        done = subprocess.run(command, stdout=said, stderr=subprocess.STDOUT, check=False, timeout=PLAY_SECONDS)
    if done.returncode:
        raise PlayError(broker, output.read_text(errors="replace"))
    broker.stop()
    copied_segments(broker, into.log_dir)


def copied_segments(broker: Broker, target: Path) -> Path:
    """Of a broker that is at rest: what it has answered is in its files."""
    for segment in broker.log_dir.glob("__consumer_offsets-*/*.log"):
        copy = target / segment.relative_to(broker.log_dir)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(segment, copy)
    return target


def history_of_segments(warehouse: Path, *folders: Path) -> History:
    for folder in folders:
        ingest(warehouse, "--source", f"segments:{folder}")
    return history(warehouse)

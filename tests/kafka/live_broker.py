"""What tests of live reading do with a broker: let scenarios play, read it, and copy its files away."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jobs.spark.jars import jar_folder
from tests.kafka.broker import Broker
from tests.kafka.capture import run_phase, scenario_sources
from tests.kafka.java_programs import compile_java
from tests.kafka.phases import Phase
from tests.runs.ingested import history, ingest

History = dict[str, list[str]]


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

"""The log that a real broker wrote, with what Kafka's own tools say about it. Made once, then read from the cache.

`python -m tests.kafka.capture [RELEASE…]` makes the named captures, or all, and prints their folders.
"""

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from jobs.spark.cache_folder import build_once, cache_folder
from jobs.spark.jars import jar_folder
from tests.kafka.broker import Broker, kafka_command
from tests.kafka.fresh_brokers import PlayError, on_fresh_broker
from tests.kafka.java_programs import compile_java, key_of
from tests.kafka.phases import COMPACTION, PHASES, Phase
from tests.kafka.releases import FORMER, RELEASES, Release

HERE: Final = Path(__file__).parent
# On the classpath: it names the connectors for Connect's workers.
SERVICES: Final = HERE / "java"
# What decides over a capture's content, beside the jars: another byte in one of these makes another capture.
MADE_BY: Final = (
    *sorted((HERE / "java").glob("*.java")),
    *sorted((HERE / "java" / "META-INF" / "services").iterdir()),
    *(HERE / name for name in ("broker.py", "capture.py", "phases.py", "releases.py")),
)
# Written against classes that 3.9 has not.
ONLY_MODERN: Final = frozenset(
    {"ConnectWorkers", "Connectors", "OtherAssignors", "RegexGroups", "ShareGroups", "StreamsGroups"}
)
# Long enough on a machine whose cores are all busy with other work.
PHASE_SECONDS: Final = 900


@dataclass(frozen=True)
class Capture:
    release: str
    folder: Path
    name: str = "full"

    @property
    def log_dir(self) -> Path:
        """As a broker's: a folder for each partition of the offsets topic."""
        return self.folder / self.name

    @property
    def segments(self) -> list[Path]:
        return sorted(self.log_dir.glob("__consumer_offsets-*/*.log"))

    @property
    def dump_file(self) -> Path:
        """What kafka-dump-log printed about all segments."""
        return self.folder / f"{self.name}.txt"

    @property
    def dump_text(self) -> str:
        return self.dump_file.read_text(encoding="utf-8")

    @property
    def compacted(self) -> "Capture":
        """The same log after the cleaner went over it, and with what kept the cleaner going."""
        return replace(self, name="compacted")

    @property
    def answers(self) -> dict[str, Any]:
        """What the broker said at the end about its topics, groups and offsets."""
        answers: dict[str, Any] = json.loads((self.folder / "answers.json").read_text(encoding="utf-8"))
        return answers


def capture_of(release: Release) -> Capture:
    folder = cache_folder() / "captures" / f"{release.name}-{key_of(release, MADE_BY)}"
    return Capture(release.name, build_once(folder, lambda empty: make(release, empty)))


def make(release: Release, folder: Path) -> None:
    classes = compile_java(scenario_sources(release), [jar_folder(jar_set) for jar_set in release.jar_sets])
    full = Capture(release.name, folder)
    phases = PHASES[release.name]

    def play(broker: Broker) -> None:
        run_phase(broker, phases[0], classes, folder)
        for phase in phases[1:]:
            broker.restart(phase.overrides)
            run_phase(broker, phase, classes, folder)
        keep(broker, full)
        broker.restart(COMPACTION.overrides)
        run_phase(broker, COMPACTION, classes, folder)
        keep(broker, full.compacted)

    on_fresh_broker(release, folder, phases[0].overrides, play)


def keep(broker: Broker, kept: Capture) -> None:
    broker.stop()
    for segment in broker.log_dir.glob("__consumer_offsets-*/*.log"):
        copy = kept.log_dir / segment.relative_to(broker.log_dir)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(segment, copy)
    dump(broker.release, kept.segments, kept.dump_file)


def scenario_sources(release: Release) -> list[Path]:
    absent = frozenset() if release.is_modern else ONLY_MODERN
    return [source for source in sorted((HERE / "java").glob("*.java")) if source.stem not in absent]


def run_phase(broker: Broker, phase: Phase, classes: Path, folder: Path) -> None:
    scenarios = [scenario.format(folder=folder, log_dir=broker.log_dir) for scenario in phase.scenarios]
    arguments = [broker.bootstrap, *scenarios]
    command = kafka_command(broker.release, "Scenarios", arguments, classes, SERVICES, options=broker.scratch_options)
    with (folder / "scenarios.out").open("ab") as output:
        begin = output.tell()
        done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False, timeout=PHASE_SECONDS)
    if done.returncode:
        raise PlayError(broker, (folder / "scenarios.out").read_bytes()[begin:].decode(errors="replace"))


def dump(release: Release, segments: list[Path], target: Path) -> None:
    """In UTF-8 whatever the machine's own encoding: the first two options are for Java 17, the last for later ones."""
    utf8 = ["-Dfile.encoding=UTF-8", "-Dsun.stdout.encoding=UTF-8", "-Dstdout.encoding=UTF-8"]
    files = ",".join(map(str, segments))
    arguments = ["--offsets-decoder", "--print-data-log", "--files", files]
    command = kafka_command(release, release.dump_tool, arguments, options=utf8)
    with target.open("wb") as output:
        # Its complaints about gaps, which cleaned logs have, go with its lines.
        subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=True, timeout=PHASE_SECONDS)


def main(names: list[str]) -> int:
    known = RELEASES | FORMER
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.stderr.write(f"unknown release {unknown[0]}: expected one of {', '.join(known)}\n")
        return 2
    for name in names or known:
        sys.stdout.write(f"{capture_of(known[name]).folder}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

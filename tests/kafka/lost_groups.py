"""The log of a broker on which groups of every protocol lost all their members at once, while messages went on to come.
Made once, then read from the cache: `python -m tests.kafka.lost_groups` prints its folder.

There are three copies of it: of when the groups are down, of when some are back and one is deleted, and of when the
offsets of those that stayed away have expired. `later` gives a copy in which more time has passed since they went.
"""

import json
import re
import shutil
import struct
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from jobs.spark.cache_folder import build_once, cache_folder
from jobs.spark.jars import jar_folder
from tests.kafka.audits.rewritten import batches, seal
from tests.kafka.broker import Broker, kafka_command
from tests.kafka.fresh_brokers import PlayError, on_fresh_broker
from tests.kafka.java_programs import compile_java, key_of
from tests.kafka.live_broker import copied_segments
from tests.kafka.releases import KAFKA_4_3, Release
from tests.kafka.sample import killed_after

JAVA: Final = Path(__file__).parent / "java"
PROGRAMS: Final = (
    JAVA / "Cluster.java",
    JAVA / "outages" / "SteadyTraffic.java",
    JAVA / "sample" / "Snapshots.java",
    *sorted((JAVA / "lost").glob("*.java")),
)
MADE_BY: Final = (*PROGRAMS, Path(__file__), Path(__file__).with_name("broker.py"))
SECONDS: Final = 600
# The least that a broker takes. Nobody is away for so long before the last copy.
SETTINGS: Final = {"offsets.retention.minutes": "1", "offsets.retention.check.interval.ms": "2000"}

# Of a batch: where its header has two times, and where the records begin.
TIMES_AT, RECORDS_AT = (27, 35), 61
# A time in milliseconds that some record holds: of this century, so its first bytes are like no other number's.
TIME_IN_RECORD: Final = re.compile(rb"\x00\x00\x01[\x80-\xff][\x00-\xff]{4}", re.DOTALL)


@dataclass(frozen=True)
class LostGroups:
    folder: Path

    @cached_property
    def times(self) -> dict[str, int]:
        """In milliseconds. `lost`: when the broker said that no doomed group has a member; else of the copies."""
        read: dict[str, int] = json.loads((self.folder / "times.json").read_text(encoding="utf-8"))
        return read

    def log_dir(self, copy: str) -> Path:
        """As a broker's: a folder for each partition of the offsets topic. Copies: `down`, `back`, `expired`."""
        return self.folder / copy

    def snapshots(self, copy: str) -> list[dict[str, Any]]:
        lines = (self.folder / "snapshots.jsonl").read_text(encoding="utf-8").splitlines()
        return [line for line in map(json.loads, lines) if line["captured_at"] <= self.times[copy]]

    def later(self, more_ms: int, into: Path) -> tuple[Path, Path]:
        """Of when the groups are down, as if all that came after their members went had come so much later. Returns
        the log and the snapshots."""
        log_dir, snapshots, since = into / "log", into / "snapshots.jsonl", self.times["lost"]
        shutil.copytree(self.log_dir("down"), log_dir)
        for segment in log_dir.glob("*/*.log"):
            segment.write_bytes(with_later_times(segment.read_bytes(), since, more_ms))
        lines = self.snapshots("down")
        for line in lines:
            line["captured_at"] += more_ms if line["captured_at"] >= since else 0
        snapshots.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return log_dir, snapshots


def with_later_times(segment: bytes, since: int, more_ms: int) -> bytes:
    """The times of batches, and those in records, such as when an offset was committed."""
    content = bytearray(segment)
    for begin, end in batches(segment):
        first = struct.unpack_from(">q", segment, begin + TIMES_AT[0])[0]
        if first < since:
            continue
        held = [found.start() for found in TIME_IN_RECORD.finditer(segment, begin + RECORDS_AT, end)]
        for at in (*(begin + each for each in TIMES_AT), *held):
            (time,) = struct.unpack_from(">q", segment, at)
            if time >= since:
                struct.pack_into(">q", content, at, time + more_ms)
        seal(content, begin, end)
    return bytes(content)


def lost_groups_of(release: Release = KAFKA_4_3) -> LostGroups:
    folder = cache_folder() / "lost-groups" / f"{release.name}-{key_of(release, MADE_BY)}"
    return LostGroups(build_once(folder, lambda empty: make(release, empty)))


def make(release: Release, folder: Path) -> None:
    on_fresh_broker(release, folder, SETTINGS, lambda broker: play(broker, folder))


def play(broker: Broker, folder: Path) -> None:
    classes = compile_java(PROGRAMS, [jar_folder(each) for each in broker.release.jar_sets])
    arguments = [broker.bootstrap, str(folder)]
    command = kafka_command(broker.release, "LostGroups", arguments, classes, options=broker.scratch_options)
    said: list[str] = []
    times: dict[str, int] = {}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, text=True, encoding="utf-8", **pipes) as story, killed_after(SECONDS, story):
        assert story.stdin is not None and story.stdout is not None
        for line in story.stdout:
            said.append(line)
            if not line.startswith("@"):
                continue
            what, time = line[1:].split()
            times[what] = int(time)
            if what != "lost":
                copied_segments(broker, folder / what)
            story.stdin.write("\n")
            story.stdin.flush()
    if story.returncode:
        raise PlayError(broker, "".join(said))
    (folder / "times.json").write_text(json.dumps(times) + "\n")


if __name__ == "__main__":
    sys.stdout.write(f"{lost_groups_of().folder}\n")

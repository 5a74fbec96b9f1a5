"""Logs of real brokers on which partitions change hands in every way that there is, with what the readers themselves
wrote down: members of Java, of librdkafka and of kafka-python. Made once, then read from the cache.

`python -m tests.kafka.handovers [RELEASE…] [--rounds N]` makes those of the named releases, or all, and prints their
folders.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from jobs.spark.cache_folder import build_once, cache_folder
from tests.kafka.broker import Broker
from tests.kafka.fresh_brokers import PlayError, on_fresh_broker
from tests.kafka.handovers.play import SESSION_MS, Play
from tests.kafka.handovers.processes import PROGRAMS
from tests.kafka.handovers.scripts import play_all
from tests.kafka.handovers.truth import truth
from tests.kafka.java_programs import key_of
from tests.kafka.live_broker import copied_segments
from tests.kafka.releases import KAFKA_3_9_NEW, KAFKA_3_9_OLD, KAFKA_4_1, KAFKA_4_3, Release

HERE: Final = Path(__file__).parent
PYTHON: Final = sorted(path for path in HERE.glob("*.py") if path.name not in ("__main__.py", "truth.py"))
MADE_BY: Final = (*PROGRAMS, *PYTHON, HERE.parent / "broker.py")
PROTOCOLS: Final = {
    KAFKA_4_3.name: ("consumer", "streams", "share"),
    KAFKA_4_1.name: ("consumer", "share"),
    KAFKA_3_9_OLD.name: (),
    KAFKA_3_9_NEW.name: ("consumer",),
}
# How long the members of consumer groups wait between heartbeats: on one release long enough that it shows.
HEARTBEAT_MS: Final = {KAFKA_4_1.name: "2500"}
HANDOVER_RELEASES: Final = {release.name: release for release in (KAFKA_4_3, KAFKA_4_1, KAFKA_3_9_OLD, KAFKA_3_9_NEW)}


@dataclass(frozen=True)
class Handovers:
    release: Release
    folder: Path

    @property
    def log_dir(self) -> Path:
        """As a broker's: a folder for each partition of the offsets topic."""
        return self.folder / "log"

    @property
    def snapshots(self) -> Path:
        """JSON lines: one every few seconds, and one just before each topic grew."""
        return self.folder / "snapshots.jsonl"

    @cached_property
    def truth(self) -> dict[str, Any]:
        """From the diaries, so that it follows the rules of today."""
        return truth(self.folder)


def handovers_of(release: Release, rounds: int = 1) -> Handovers:
    key = key_of((release, PROTOCOLS[release.name], rounds), MADE_BY)
    folder = cache_folder() / "handovers" / f"{release.name}-{key}"
    return Handovers(release, build_once(folder, lambda empty: make(release, rounds, empty)))


def settings_of(release: Release) -> dict[str, str]:
    ms = {"session.timeout.ms": str(SESSION_MS), "heartbeat.interval.ms": HEARTBEAT_MS.get(release.name, "1000")}
    wanted = {f"group.{kind}.{name}": value for kind in ("consumer", "streams", "share") for name, value in ms.items()}
    return {name: value for name, value in wanted.items() if name in release.properties}


def make(release: Release, rounds: int, folder: Path) -> None:
    overrides = settings_of(release)

    def on(broker: Broker) -> None:
        is_since_4 = release not in (KAFKA_3_9_OLD, KAFKA_3_9_NEW)
        playing = Play(broker, folder, lambda: broker.start(overrides), is_since_4)
        try:
            play_all(playing, PROTOCOLS[release.name], rounds)
        except Exception as failure:
            said = [path.read_text(errors="replace") for path in sorted(folder.glob("*.out"))]
            raise PlayError(broker, "\n".join([*said, repr(failure)])) from failure
        finally:
            playing.kill_all()
        copied_segments(broker, folder / "log")

    on_fresh_broker(release, folder, overrides, on)

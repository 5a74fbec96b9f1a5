"""The sample in `data/sample`: what a real broker wrote while the story of `java/sample/` was played on it.

`python -m tests.kafka.sample [--into DIR]` plays it anew and replaces what DIR held.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any, Final

from jobs.spark.jars import jar_folder
from tests.kafka.broker import Broker, kafka_command, running
from tests.kafka.capture import HERE, SERVICES, scenario_sources
from tests.kafka.java_programs import compile_java
from tests.kafka.releases import KAFKA_4_3
from tests.sample.page import page

DATA_SAMPLE: Final = HERE.parents[1] / "data" / "sample"
STORY_SECONDS: Final = 360

SETTINGS: Final = {
    "offsets.topic.num.partitions": "8",
    "group.initial.rebalance.delay.ms": "500",
    # Timers as brokers have them, but for what the story would wait for.
    **{
        f"group.{kind}.{timer}": ms
        for kind in ("consumer", "share", "streams")
        for timer, ms in (("heartbeat.interval.ms", "500"), ("session.timeout.ms", "45000"))
    },
    # Segments are closed every 40 seconds: without this the cleaner would take from the story.
    "log.cleaner.min.compaction.lag.ms": "86400000",
}
# From the restart on, so that the sweep has something to do and the story need not wait ten minutes for it.
SWEEPING: Final = {"offsets.retention.check.interval.ms": "15000"}


def make(into: Path) -> None:
    sources = [*scenario_sources(KAFKA_4_3), *sorted((HERE / "java" / "sample").glob("*.java"))]
    classes = compile_java(sources, [jar_folder(jar_set) for jar_set in KAFKA_4_3.jar_sets])
    with tempfile.TemporaryDirectory(prefix="groupscope-sample-") as scratch:
        folder = Path(scratch) / "broker"
        told = Path(scratch) / "told"
        folder.mkdir()
        told.mkdir()
        with running(KAFKA_4_3, folder, SETTINGS) as broker:
            play(broker, classes, told)
            replace(into, broker.log_dir, told)


def play(broker: Broker, classes: Path, told: Path) -> None:
    """The story's end is the broker's stop: members that are there until then have not left in the log either."""
    options = [*broker.scratch_options, "-Dstdout.encoding=UTF-8"]
    arguments = [broker.bootstrap, str(told)]
    command = kafka_command(broker.release, "SampleStory", arguments, classes, SERVICES, options=options)
    said: list[str] = []
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, text=True, encoding="utf-8", **pipes) as story, killed_after(STORY_SECONDS, story):
        assert story.stdin is not None and story.stdout is not None
        for line in story.stdout:
            said.append(line)
            if line == "@restart\n":
                broker.restart(SETTINGS | SWEEPING)
                story.stdin.write("\n")
                story.stdin.flush()
            elif line == "@over\n":
                broker.stop()
                story.stdin.close()
    if story.returncode:
        broker_said = broker.output.read_text(errors="replace")
        raise RuntimeError(f"{''.join(said)[-6000:]}\nThe broker said: {broker_said[-4000:]}")


@contextmanager
def killed_after(seconds: float, process: "subprocess.Popen[str]") -> Iterator[None]:
    timer = Timer(seconds, process.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def replace(into: Path, log_dir: Path, told: Path) -> None:
    """Only now, so that a story which breaks off leaves the sample as it was."""
    shutil.rmtree(into, ignore_errors=True)
    for segment in sorted(log_dir.glob("__consumer_offsets-*/*.log")):
        copy = into / segment.relative_to(log_dir)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(segment, copy)
    shutil.copyfile(told / "snapshots.jsonl", into / "snapshots.jsonl")
    events = story_events(told)
    lines = ",\n".join(json.dumps(event, ensure_ascii=False) for event in events)
    (into / "story.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    (into / "README.md").write_text(page(events, into), encoding="utf-8")


def story_events(told: Path) -> list[dict[str, Any]]:
    lines = (told / "story.jsonl").read_text(encoding="utf-8").splitlines()
    events = sorted(map(json.loads, lines), key=lambda event: event["from_time"])
    answers = json.loads((told / "answers.json").read_text(encoding="utf-8"))
    return [event | (answers if event["kind"] == "end_state" else {}) for event in events]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kafka.sample", description=__doc__)
    parser.add_argument("--into", type=Path, default=DATA_SAMPLE, metavar="DIR", help="default: data/sample")
    into = parser.parse_args(arguments).into
    if into.exists() and any(into.iterdir()) and not (into / "story.json").exists():
        sys.stderr.write(f"{into}: holds something else than a sample, an empty folder was expected\n")
        return 2
    make(into)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

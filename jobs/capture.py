"""Takes snapshots of a live cluster: end offsets, brokers and settings, which __consumer_offsets does not contain.

    groupscope capture --source kafka:broker-1:9092 --into snapshots.jsonl --every 60 --for 86400
    groupscope capture --source kafka:broker-1:9092 --warehouse warehouse

Reads: the cluster, by requests that change nothing; with --warehouse also which topics groups have committed offsets
for. Writes: one line per snapshot, or rows of `cluster_snapshots`, `topic_snapshots` and `runs`.
"""

import argparse
import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from jobs.broker.client_properties import ClientProperties, client_properties
from jobs.broker.cluster import KafkaCluster
from jobs.capturing.targets import FileTarget, Target, WarehouseTarget
from jobs.configuration.settings import load_settings
from jobs.engine.local import LocalEngine
from jobs.output.failure import Failure, code_and_line, misuse, print_trace, say
from jobs.output.progress import doing
from jobs.runs.result import now_ms
from jobs.runs.run import RunOptions
from jobs.sources.cluster_snapshot import Snapshot, take_snapshot
from jobs.storage.places.addresses import is_remote, local_path
from schemas.words.exit_codes import ExitCode


@dataclass
class NewMessages:
    """In a series of snapshots, prints only messages that the previous snapshot did not print."""

    before: set[str] = field(default_factory=set)
    now: set[str] = field(default_factory=set)

    def __call__(self, line: str) -> None:
        if line not in self.before | self.now:
            say(line)
        self.now.add(line)

    def next(self) -> None:
        self.before, self.now = self.now, set()


def run(arguments: argparse.Namespace) -> int:
    check_usage(arguments)
    servers, properties = arguments.source.removeprefix("kafka:"), client_properties(arguments.command_config)
    target, messages = target_of(arguments), NewMessages()
    topics, code = target.topics | frozenset(arguments.topics), int(ExitCode.CLEAN)
    every, lasting = arguments.every, arguments.lasting
    with doing("capture", is_logged=False) as activity:
        # 0: nobody knows how many.
        activity.total = 1 if every is None else math.ceil((lasting or 0) / every)
        activity.unit = "snapshots"
        for number, _ in enumerate(ticks(every, lasting)):
            try:
                if not number:
                    check_there(servers, properties, arguments.topics)
                target.write(snapshot_of(servers, properties, topics, messages))
            except Exception as error:
                # The first attempt fails at once, since the settings may be wrong. Later a broker may only be
                # restarting, and no error of one snapshot may be the end of a series.
                if not number:
                    raise
                if arguments.debug:
                    print_trace()
                code, why = code_and_line(error)
                messages(f"no snapshot: {why}")
            messages.next()
            activity.done = number + 1
    return code


def check_usage(arguments: argparse.Namespace) -> None:
    if not arguments.source.removeprefix("kafka:") or not arguments.source.startswith("kafka:"):
        raise misuse(f"--source {arguments.source!r}; give kafka:HOST:PORT[,HOST:PORT…]")
    if arguments.every == 0:
        raise misuse("--every 0: give a number of seconds above 0")
    if arguments.lasting is not None and arguments.every is None:
        raise misuse(f"--for {arguments.lasting:g} also needs --every SECONDS")
    if arguments.into is not None and arguments.warehouse is not None:
        raise misuse("--into and --warehouse cannot be used together; give only one of them")
    if arguments.into is not None and is_remote(arguments.into):
        raise misuse(f"--into {arguments.into}: give a file on this machine")


def target_of(arguments: argparse.Namespace) -> Target:
    if arguments.into is not None:
        return FileTarget(local_path(arguments.into))
    engine = LocalEngine("groupscope capture", 1, is_debug=arguments.debug)
    place = "warehouse" if arguments.warehouse is None else arguments.warehouse
    options = RunOptions(place, arguments.cluster, load_settings(arguments.config), arguments.lock_wait)
    return WarehouseTarget(options, engine)


def check_there(servers: str, properties: ClientProperties, topics: list[str]) -> None:
    """A mistyped name must not make snapshots that lack the topic without a message."""
    if not topics:
        return
    with KafkaCluster(servers, properties) as cluster:
        absent = [name for name, topic in cluster.topics(topics, {}).items() if topic is None]
    if absent:
        raise Failure(ExitCode.UNREADABLE_INPUT, f"--topic {absent[0]}: the cluster has no such topic")


def snapshot_of(
    servers: str, properties: ClientProperties, topics: Iterable[str], new_messages: NewMessages
) -> Snapshot:
    """Uses new connections: brokers may start and stop between two snapshots."""
    with KafkaCluster(servers, properties) as cluster:
        return take_snapshot(cluster, topics, now_ms(), new_messages)


def ticks(every: float | None, lasting: float | None) -> Iterator[None]:
    """Now, and then at fixed times. A late snapshot skips the times that it missed."""
    begin, number = time.monotonic(), 0
    yield
    while every is not None:
        number = max(number + 1, math.ceil((time.monotonic() - begin) / every))
        if lasting is not None and number * every >= lasting:
            return
        time.sleep(max(0.0, begin + number * every - time.monotonic()))
        yield

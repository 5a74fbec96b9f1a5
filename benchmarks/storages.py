"""The same audit into a warehouse on the local disk, on an S3-compatible server and on HDFS, all on this machine."""

import os
import statistics
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field

from benchmarks.audit import audit_command, source
from benchmarks.commands import new_warehouse, seconds_of
from benchmarks.durations import Bound, Ratio
from benchmarks.run import Run
from tests.builders.storages.mini_hdfs import mini_hdfs
from tests.builders.storages.s3_server import make_bucket, options_for, s3_server

RECORDS = 1_000_000
BOUND = Bound(1.5, 1.2)
BUCKET = "benchmarks"


@dataclass(frozen=True)
class Server:
    name: str
    # Where warehouses are made.
    place: str
    environment: Mapping[str, str] = field(default_factory=dict)


def measure(run: Run) -> list[Ratio]:
    folder, log = source(run, RECORDS)

    def seconds(server: Server | None) -> float:
        if server is None:
            return seconds_of(audit_command(folder, new_warehouse(run.folder)))
        warehouse = f"{server.place}/{uuid.uuid4().hex}"
        return seconds_of(audit_command(folder, warehouse), {**os.environ, **server.environment})

    with ExitStack() as stack:
        servers = list(started(run, stack))
        rounds = [[seconds(server) for server in (None, *servers)] for _ in range(min(run.rounds, 3))]
    local, *others = zip(*rounds, strict=True)
    name = f"audit of {log}"
    return [
        Ratio(
            f"{name}, into a warehouse on {server.name}; rival: on the local disk",
            statistics.median(times),
            statistics.median(local),
            BOUND,
        )
        for server, times in zip(servers, others, strict=True)
    ]


def started(run: Run, stack: ExitStack) -> Iterator[Server]:
    url = stack.enter_context(s3_server())
    make_bucket(url, BUCKET)
    options = {name.upper(): value for name, value in options_for(url).values}
    yield Server("S3", f"s3://{BUCKET}", options)
    cluster = stack.enter_context(mini_hdfs(run.folder / f"hdfs-{uuid.uuid4().hex}"))
    yield Server("HDFS", cluster.uri)

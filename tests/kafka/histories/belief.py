"""A log under a fresh broker, and what that broker then believes of the log's groups."""

import json
import secrets
import shutil
import subprocess
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from typing import Any, Final

from jobs.spark.jars import jar_folder
from tests.kafka.broker import Broker, free_ports, kafka_command
from tests.kafka.capture import HERE
from tests.kafka.java_programs import compile_java
from tests.kafka.observations import run

OFFSETS_TOPIC: Final = "__consumer_offsets"
# Nothing that the log holds may end by itself while the broker is asked.
LASTING: Final = {
    "offsets.retention.minutes": "2147483647",
    "log.retention.ms": "-1",
    "log.cleaner.enable": "false",
    # A broker that is new to the controller counts as one that may have lost data.
    "unclean.leader.election.enable": "true",
    **{
        f"group.{kind}.{setting}": ms
        for kind in ("consumer", "share", "streams")
        for setting, ms in (("max.session.timeout.ms", "600000"), ("session.timeout.ms", "600000"))
    },
}
BOOTSTRAP: Final = HERE / "java" / "belief" / "BootstrapTopics.java"
Topics = Mapping[str, tuple[str, int]]
Belief = list[dict[str, Any]]


def belief(release, log_dir, topics, scratch, offsets_partitions):
    """`topics` are ids and numbers of partitions by name. The log's folder is copied, not touched."""
    port, controller_port = free_ports(2)
    broker = Broker(release, scratch, port, controller_port)
    broker.format()
    offsets_id = urlsafe_b64encode(secrets.token_bytes(16)).decode().rstrip("=").replace("-", "A")
    bootstrap_topics(broker, {**topics, OFFSETS_TOPIC: (offsets_id, offsets_partitions)})
    put(log_dir, broker.log_dir, offsets_id)
    try:
        broker.start({**LASTING, "offsets.topic.num.partitions": str(offsets_partitions)})
        run("Belief", broker, scratch / "asked.out", str(scratch / "belief.jsonl"), str(offsets_partitions))
    finally:
        broker.stop()
    return [json.loads(line) for line in (scratch / "belief.jsonl").read_text(encoding="utf-8").splitlines()]


def bootstrap_topics(broker, topics):
    """Before its first start: topics made by an admin client would have ids of the broker's choice."""
    listed = broker.folder / "topics.txt"
    listed.write_text("".join(f"{name} {topic_id} {number}\n" for name, (topic_id, number) in topics.items()))
    classes = compile_java([BOOTSTRAP], [jar_folder(jar_set) for jar_set in broker.release.jar_sets])
    command = kafka_command(broker.release, "BootstrapTopics", [str(broker.log_dir), str(listed)], classes)
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr


def put(log_dir, data, topic_id):
    for segment in sorted(log_dir.glob(f"{OFFSETS_TOPIC}-*/*.log")):
        copy = data / segment.relative_to(log_dir)
        copy.parent.mkdir(exist_ok=True)
        shutil.copy(segment, copy)
        # A folder that does not say whose it is would be put aside as a stray.
        (copy.parent / "partition.metadata").write_text(f"version: 0\ntopic_id: {topic_id}\n")

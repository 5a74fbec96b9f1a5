"""Runs the Java programs beside this file and reads what they write."""

import json
import os
import secrets
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from jobs.spark.jars import jar_folder, jars
from tests.kafka import jar_sets
from tests.kafka.java_programs import compile_java, java_command
from tests.kafka.oracle.kafka_json import project_form
from tests.short_lived_java import FLAGS

HERE: Final = Path(__file__).parent
MESSAGE_SOURCES: Final = ("RandomValues.java", "GeneratedMessage.java")

RELEASES: Final = {
    "4.4.0": jar_sets.KAFKA_4_4_0,
    "4.0.1": jar_sets.KAFKA_4_0_1,
    "3.9.1": jar_sets.KAFKA_3_9_1,
    "3.7.2": jar_sets.KAFKA_3_7_2,
}

# Later releases wrote other bytes under the same version numbers; each shape of theirs is in one of these.
NEWER: Final = {"4.0.1": ("4.4.0",), "3.9.1": ("4.0.1", "4.4.0"), "3.7.2": ("4.4.0",)}

# The record types that each release has classes for. Up to 4.0 type 0 shares the classes of type 1.
RECORD_TYPES: Final = {
    "4.4.0": (*range(9), *range(10, 18), *range(19, 24)),
    "4.0.1": tuple(range(17)),
    "3.9.1": tuple(range(12)),
    "3.7.2": tuple(range(9)),
}
VERSIONS: Final = {1: range(5), 2: range(5)}  # every other type has version 0 alone

BYTES_FIELDS: Final = {
    2: {"members.subscription", "members.assignment"},
    5: {"classicMemberMetadata.supportedProtocols.metadata", "assignors.metadata"},
    7: {"metadataBytes"},
    8: {"metadataBytes"},
}
VALUES_PER_TOMBSTONE: Final = 10

PAYLOAD_SOURCES: Final = (
    "KafkaStructs.java",
    "StickyPayloads.java",
    "StreamsPayloads.java",
    "ConnectPayloads.java",
    "PayloadOracle.java",
)
STICKY_FORMS: Final = (("sticky", "V1"), ("sticky", "V0"), ("cooperative-sticky", "V0"))
CONNECT_FORMS: Final = (("default", "0"), ("compatible", "1"), ("sessioned", "2"))
PAYLOAD_BYTES_FIELDS: Final = frozenset({"userData", "userEndPoint", "clientTags.key", "clientTags.value"})


@dataclass(frozen=True)
class RecordCase:
    """One record; of a tombstone `value_bytes`, `value` and `value_version` are None."""

    release: str
    record_type: int
    value_version: int | None
    key_bytes: bytes
    value_bytes: bytes | None
    key: dict[str, Any]
    value: dict[str, Any] | None
    unknown_tags: int


def chosen_seed():
    """Another one each run; GROUPSCOPE_SEED repeats a failure, whose message names it."""
    return int(os.environ.get("GROUPSCOPE_SEED") or secrets.randbelow(2**32))


def expected_values(release):
    """Every (record type, value version) that the release must draw; version None is a tombstone."""
    return {
        (record_type, version)
        for record_type in RECORD_TYPES[release]
        for version in (*VERSIONS.get(record_type, range(1)), None)
    }


def record_cases(release, count, seed):
    """`count` values of each type and version that the release knows, and a tenth as many tombstones of each type."""
    sources = (*MESSAGE_SOURCES, "NewerRelease.java", "RecordOracle.java")
    newer = [classpath(RELEASES[later]) for later in NEWER.get(release, ())]
    for line in run(RELEASES[release], sources, "RecordOracle", str(seed), str(count), *newer):
        record_type, value = line["record_type"], line.get("value")
        yield RecordCase(
            release,
            record_type,
            line.get("value_version"),
            bytes.fromhex(line["key_bytes"]),
            None if value is None else bytes.fromhex(line["value_bytes"]),
            project_form(line["key"], frozenset()),
            None if value is None else project_form(value, BYTES_FIELDS.get(record_type, frozenset())),
            line.get("unknown_tags", 0),
        )


@dataclass(frozen=True)
class PayloadCase:
    """One payload of a member. `protocol_type` is `user_data` for what stands inside a consumer protocol payload."""

    protocol_type: str
    protocol: str
    part: str
    form: str
    data: bytes
    value: dict[str, Any]

    @property
    def sort(self):
        return self.protocol_type, self.protocol, self.part, self.form


def expected_payloads():
    """Every sort of payload that must be drawn; form `above` is a version above the highest known one."""
    parts = ("subscription", "assignment")
    return {
        *(("consumer", "range", part, form) for part in parts for form in ("0", "1", "2", "3", "above")),
        *(("user_data", protocol, "subscription", form) for protocol, form in STICKY_FORMS),
        *(("user_data", "stream", part, str(version)) for part in parts for version in range(1, 12)),
        *(("connect", protocol, part, form) for part in parts for protocol, form in CONNECT_FORMS),
    }


def payload_cases(count, seed):
    """`count` payloads of each sort, by the clients of 4.4.0, which still write every version."""
    sources = (*MESSAGE_SOURCES, *PAYLOAD_SOURCES)
    for line in run(jar_sets.KAFKA_4_4_0, sources, "PayloadOracle", str(seed), str(count)):
        yield PayloadCase(
            line["protocol_type"],
            line["protocol"],
            line["part"],
            line["form"],
            bytes.fromhex(line["bytes"]),
            project_form(line["value"], PAYLOAD_BYTES_FIELDS),
        )


def classpath(jar_set):
    return ":".join(map(str, jars(jar_set)))


def run(jar_set, sources, main, *arguments):
    folder = jar_folder(jar_set)
    classes = compile_java([HERE / source for source in sources], [folder])
    # Logs of Kafka's own classes go to stderr; they may fill a pipe that nobody reads, but not a file.
    with tempfile.TemporaryFile() as errors:
        command = java_command(main, [classes, folder], arguments, ["-Xmx512m", *FLAGS])
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors) as process:
            assert process.stdout is not None
            yield from map(json.loads, process.stdout)
        if process.returncode:
            errors.seek(0)
            raise RuntimeError(f"{main} on {jar_set.name} failed: {errors.read()[-4000:].decode(errors='replace')}")

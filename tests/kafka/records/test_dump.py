"""On each broker's log `groupscope dump` says what kafka-dump-log says: the same records, and nothing else."""

import json
import subprocess
import sys

import pytest

from tests.kafka.records.dump_log import dumped_records

pytestmark = pytest.mark.broker

# The newest version of the consumer protocol's payloads, which every Java client since 3.4 writes.
JAVA_CLIENTS_PAYLOAD = 3
NULLABLE_TAGS = {"classic_member_metadata", "assignment_epochs", "last_assignment_configs"}


def test_dump_prints_what_kafka_prints(capture):
    assert_same_records(capture)


def test_dump_prints_what_kafka_prints_about_a_cleaned_log(capture):
    assert_same_records(capture.compacted)


def assert_same_records(capture):
    command = [sys.executable, "-m", "jobs.cli", "dump", *map(str, capture.segments)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, timeout=240)
    assert (done.returncode, done.stderr) == (0, "")
    ours = [without_payload_versions(json.loads(line)) for line in done.stdout.split("\n")[:-1]]
    kafkas = [record.line() for record in dumped_records(capture.dump_text)]
    for our_line, kafkas_line in zip(ours, kafkas, strict=False):
        # As text, where 0 is not false.
        assert as_text(without_absent_tags(our_line, kafkas_line)) == as_text(kafkas_line)
    assert len(ours) == len(kafkas)


def as_text(line):
    return json.dumps(line, sort_keys=True, indent=1)


def without_absent_tags(ours, kafkas):
    """Nullable tagged fields are null in our lines also where the bytes do not have them; the tool leaves those out."""
    if isinstance(ours, list) and isinstance(kafkas, list) and len(ours) == len(kafkas):
        return [without_absent_tags(mine, theirs) for mine, theirs in zip(ours, kafkas, strict=True)]
    if not (isinstance(ours, dict) and isinstance(kafkas, dict)):
        return ours
    return {
        name: without_absent_tags(value, kafkas.get(name))
        for name, value in ours.items()
        if not (value is None and name in NULLABLE_TAGS and name not in kafkas)
    }


def without_payload_versions(line):
    """The tool reads members' payloads too, and leaves out which version they had."""
    value = line["value"] or {}
    if value.get("protocol_type") == "consumer":
        for member in value["members"]:
            assert member["subscription"].pop("version") == JAVA_CLIENTS_PAYLOAD
            assert member["assignment"].pop("version") == JAVA_CLIENTS_PAYLOAD
    return line

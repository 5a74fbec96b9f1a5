"""What people and other programs write: lines of archives, snapshots, questions to `assign`, client properties.

Each is read, or refused with one line. An input is one line, or one file of a few lines.
"""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

from jobs.broker.client_properties import DEFAULTS_MS, ClientProperties, entries
from jobs.broker.client_security import credentials, jaas_options, pem, protocol_of, refuse_unknown
from jobs.output.failure import Failure
from jobs.sources.snapshot_files import CapturedSnapshots, SnapshotFile, snapshots_of
from tests.builders.assignors.client_cases import random_spec
from tests.builders.assignors.server_cases import random_share_spec
from tests.builders.assignors.server_cases import random_spec as random_server_spec
from tests.fuzz.json_mutations import mutate_json
from tests.fuzz.logs import SAMPLE, pairs
from tests.fuzz.mutations import mutate_bytes
from tests.fuzz.target import Target
from udfs.assignors.answers import answer_to
from udfs.sources.archive_lines import LINE_ROWS, folder_columns, line_row, line_rows
from udfs.sources.archive_rows import problem_rows

FILE = "/archive/topic=__consumer_offsets/part-0.json"
LONGEST_MESSAGE = 1_000
NOW_MS = 1_795_282_587_379
EITHER = (True, False)


@dataclass
class ArchiveTarget(Target):
    logs: Sequence[bytes]
    name = "archive lines"

    def seeds(self) -> list[bytes]:
        result = [pair for log in self.logs[:6] for pair in pairs(log)]
        return [json.dumps(archive_line(number, *pair)).encode() for number, pair in enumerate(result)]

    def mutate(self, raw: bytes, others: Sequence[bytes], chance: Random) -> bytes:
        return mutate_json(raw, others, chance).replace(b"\n", b" ")

    def check(self, inputs: Sequence[bytes]) -> None:
        lines = [raw for raw in inputs if raw.strip()]
        # One unusual line sends all to the slower reader, so each is read alone too: both readers must agree.
        together = read_lines(inputs)
        assert together.num_rows == len(lines)
        alone = [row for line in lines for row in read_lines([line]).to_pylist()]
        assert alone == together.to_pylist()
        one_by_one = [line_row(line, FILE, folder_columns(FILE)) for line in lines]
        assert pa.RecordBatch.from_pylist(one_by_one, LINE_ROWS).to_pylist() == alone
        problem_rows(together, "prod", "run").validate(full=True)


def archive_line(number: int, key: bytes | None, value: bytes | None, is_control: bool) -> dict[str, Any]:
    encoded = [None if raw is None else base64.b64encode(raw).decode() for raw in (key, value)]
    row = {"topic": "__consumer_offsets", "partition": number % 50, "offset": number, "timestamp": NOW_MS}
    row |= {"key": encoded[0], "value": encoded[1]}
    if number % 3 == 0:
        row |= {"timestamp": "2026-11-21T17:36:38.123Z", "is_transactional": False, "is_control": is_control}
        row |= {"producer_id": 7, "producer_epoch": 0, "leader_epoch": 3}
    return row


def read_lines(lines: Sequence[bytes]) -> pa.RecordBatch:
    result = line_rows(pa.array(lines, pa.binary()), pa.array([FILE] * len(lines)))
    result.validate(full=True)
    return result


class SnapshotTarget(Target):
    name = "snapshots"
    longest = 20_000
    inputs_a_call = 500

    def seeds(self) -> list[bytes]:
        lines = (SAMPLE / "snapshots.jsonl").read_bytes().splitlines()
        small = [json.dumps(smaller(json.loads(line))).encode() for line in lines]
        offsets = b"\n".join(b"orders:%d:%d" % (number, number * 7) for number in range(5)) + b"\na:b:0:-1\nc:1:\n"
        return [*small, small[0] + b"\n" + small[-1], offsets, DESCRIBED.encode(), b"\xef\xbb\xbf" + offsets]

    def mutate(self, raw: bytes, others: Sequence[bytes], chance: Random) -> bytes:
        return mutate_json(raw, others, chance)

    def check(self, inputs: Sequence[bytes]) -> None:
        for raw in inputs:
            try:
                captured = CapturedSnapshots("prod", "run")
                for read in snapshots_of(SnapshotFile("a.txt", NOW_MS, raw), None):
                    captured.add("a.txt", read)
                for table in captured.tables().values():
                    table.validate(full=True)
            except Failure as failure:
                assert str(failure)


def smaller(snapshot: dict[str, Any]) -> dict[str, Any]:
    topics = [{**topic, "partitions": topic["partitions"][:2]} for topic in snapshot["topics"][:3]]
    return {
        **{name: value[:2] if isinstance(value, list) else value for name, value in snapshot.items()},
        "topics": topics,
        "settings": dict(list((snapshot.get("settings") or {}).items())[:4]),
    }


DESCRIBED = (
    "Topic: orders\tTopicId: AAAAAAAAQACAAAAAAAAAAA\tPartitionCount: 2\tReplicationFactor: 1\tConfigs: \n"
    "\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\n"
    "\tTopic: orders\tPartition: 1\tLeader: none\tReplicas: 1\tIsr: 1\n"
    "Topic: __consumer_offsets TopicId: BBBBBBBBQACAAAAAAAAAAA PartitionCount: 1\n"
    "Topic: __consumer_offsets Partition: 0 Leader: -1\n"
)


class SpecTarget(Target):
    """Numbers of partitions stay small: what a question costs is in proportion to them, not to its bytes."""

    name = "assign specs"
    longest = 20_000
    inputs_a_call = 200

    def seeds(self) -> list[bytes]:
        rng = np.random.default_rng(3)
        clients = ("range", "roundrobin", "sticky", "cooperative-sticky", "constrained-cooperative-sticky")
        releases = ((2, 4, 1), (3, 0, 0), (3, 9, 1), (4, 3, 0))
        specs = [random_spec(rng, name, release) for name in clients for release in releases for _ in range(4)]
        specs += [random_server_spec(rng, name, is_equal) for name in ("uniform", "range") for is_equal in EITHER * 6]
        specs += [random_share_spec(rng, is_equal) for is_equal in EITHER * 6]
        return [line for line in (json.dumps(spec).encode() for spec in specs) if len(line) < self.longest // 4]

    def mutate(self, raw: bytes, others: Sequence[bytes], chance: Random) -> bytes:
        return mutate_json(raw, others, chance)

    def check(self, inputs: Sequence[bytes]) -> None:
        for raw in inputs:
            answer = answer_to(1, raw)
            json.dumps(answer)
            assert ("error" in answer) != ("assignment" in answer)
            if "error" in answer:
                assert 0 < len(answer["error"]) < LONGEST_MESSAGE, answer["error"][:300]


class PropertiesTarget(Target):
    name = "client properties"
    inputs_a_call = 2_000

    def seeds(self) -> list[bytes]:
        return [each.encode() for each in PROPERTIES]

    def mutate(self, raw: bytes, others: Sequence[bytes], chance: Random) -> bytes:
        if chance.random() < 0.3:
            at = chance.randrange(len(raw) + 1)
            return raw[:at] + chance.choice(TOKENS) + raw[at:]
        return mutate_bytes(raw, others, chance)

    def check(self, inputs: Sequence[bytes]) -> None:
        for raw in inputs:
            try:
                values = dict(entries(raw.decode("iso-8859-1")))
            except ValueError:
                continue
            for read in READERS:
                try:
                    read(values)
                except Failure as failure:
                    assert str(failure)


def read_times(values: dict[str, str]) -> None:
    for name in DEFAULTS_MS:
        assert 0 <= ClientProperties(values).seconds(name) <= MOST_SECONDS


def read_jaas(values: dict[str, str]) -> None:
    jaas_options(values.get("sasl.jaas.config", ""))


def read_pem(values: dict[str, str]) -> None:
    pem(values.get("ssl.keystore.key", ""), "PRIVATE KEY")


READERS = (refuse_unknown, protocol_of, credentials, read_times, read_jaas, read_pem)
# As far as Java's int goes.
MOST_SECONDS = 2**31 / 1000
TOKENS = (b"\\", b"\\\n", b"\\u00e9", b"\\u12", b"\\ud83d\\ude00", b"\r\n", b"\r", b"#", b"!", b"=", b":", b"\f")
TOKENS += (b"9" * 5000, b"/*", b"*/", b"//", b"'", b'"', b"-----BEGIN A-----", b"-----END A-----", b";", b"\\777")
LOGIN = 'org.apache.kafka.common.security.scram.ScramLoginModule required username=\'a b\' password="c\\"\\101";'
PROPERTIES = (
    f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\nsasl.jaas.config={LOGIN}\n",
    "# comment\n! also\nrequest.timeout.ms = 30000\ndefault.api.timeout.ms:60000\nlong=a\\\n   b\\\n  c\n",
    "security.protocol=SSL\nssl.keystore.key=-----BEGIN PRIVATE KEY----- AAAA -----END PRIVATE KEY-----\n",
    "k\\u00e9y=va\\tl\\u00FCe\nempty\n\\==\\:\nsocket.connection.setup.timeout.ms=10000\n",
)

"""Snapshots as people hand them in."""

import json
from typing import Any

import pytest

from udfs.sources.snapshot_fields import Malformed, Snapshots
from udfs.sources.snapshot_lines import Contradiction, merge_rows, parse_each

NOW = 1_700_000_000_000
ID = "Jx5m2k3lQ0-Yb_7wPz1aAg"
OFFSETS_ID = "7z1RNuzRT8avpLU2aul7Mw"
FULL: dict[str, Any] = {
    "captured_at": NOW,
    "topics": [
        {
            "topic": "a.b_c-d",
            "topic_id": ID,
            "partitions": [
                {
                    "partition": 0,
                    "log_start_offset": 5,
                    "log_end_offset": 9,
                    "leader_epoch": 3,
                    "racks": ["r1", None],
                },
                {"partition": 1, "log_start_offset": -1, "log_end_offset": None, "leader_epoch": -1},
            ],
        },
        {"topic": "empty", "partitions": []},
    ],
    "brokers": [{"id": 1, "host": "kafka-1", "port": 9092, "rack": None}],
    "offsets_partitions": [{"partition": 0, "leader": 1}, {"partition": 1, "leader": -1}],
    "settings": {"offsets.retention.minutes": 10080, "a": "b", "c": None, "auto.create.topics.enable": False},
    "groups": [
        {"group_id": "g", "settings": {"consumer.session.timeout.ms": 6000, "from_a_later_release": "x"}, "later": 1},
        {"group_id": "a/\u2028", "settings": {}},
    ],
    "cluster_id": "5L6g3nShT-eMCtK--X86sw",
    "offsets_topic_id": OFFSETS_ID,
    "from_a_later_release": {},
}


def parse(text: str, captured_at_ms: int) -> Snapshots:
    """All snapshots of a text."""
    whole = Snapshots()
    for each in parse_each(text, captured_at_ms):
        whole.clusters += each.clusters
        whole.topics += each.topics
    return whole


def known(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


def changed(path: list[str | int], value: object) -> dict[str, Any]:
    """FULL with another value at the path; at none when the value is `...`."""
    whole = json.loads(json.dumps(FULL))
    place = whole
    for step in path[:-1]:
        place = place[step]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return dict(whole)


def test_a_line_of_ours() -> None:
    parsed = parse(f"\n{json.dumps(FULL)}\r\n", 1)
    assert known(parsed.topics) == [
        {
            "captured_time": NOW, "topic": "a.b_c-d", "topic_id": ID, "partition": 0, "log_start_offset": 5,
            "log_end_offset": 9, "leader_epoch": 3, "racks": ["r1", None],
        },
        {"captured_time": NOW, "topic": "a.b_c-d", "topic_id": ID, "partition": 1},
    ]  # fmt: skip
    (cluster,) = known(parsed.clusters)
    assert cluster == {
        "captured_time": NOW,
        "brokers": [{"id": 1, "host": "kafka-1", "port": 9092, "rack": None}],
        "offsets_partitions": [{"partition": 0, "leader": 1}, {"partition": 1, "leader": None}],
        "settings": [
            ("a", "b"), ("auto.create.topics.enable", "false"), ("c", None), ("offsets.retention.minutes", "10080"),
        ],
        "group_settings": [
            {"group_id": "a/\u2028", "settings": []},
            {
                "group_id": "g",
                "settings": [("consumer.session.timeout.ms", "6000"), ("from_a_later_release", "x")],
            },
        ],
        "cluster_id": "5L6g3nShT-eMCtK--X86sw",
        "offsets_topic_id": OFFSETS_ID,
    }  # fmt: skip


def test_the_id_of_the_offsets_topic_may_be_in_the_list_of_topics_alone() -> None:
    listed = {"topic": "__consumer_offsets", "topic_id": OFFSETS_ID, "partitions": []}
    line: dict[str, Any] = {"captured_at": NOW, "topics": [listed]}
    (cluster,) = known(parse(json.dumps(line), 1).clusters)
    assert cluster == {"captured_time": NOW, "offsets_topic_id": OFFSETS_ID}
    with pytest.raises(Malformed) as caught:
        parse(json.dumps(line | {"offsets_topic_id": ID}), 1)
    assert str(caught.value) == (
        f'line 1: offsets_topic_id: "{ID}", but topics has __consumer_offsets with id "{OFFSETS_ID}"'
    )
    described = "Topic: __consumer_offsets\tTopicId: {id}\tPartitionCount: 1\nTopic: __consumer_offsets\tPartition: 0"
    (cluster,) = parse(described.format(id=OFFSETS_ID), NOW).clusters
    assert cluster["offsets_topic_id"] == OFFSETS_ID


def test_only_time_and_topics_are_needed() -> None:
    lines = [json.dumps({"captured_at": NOW + number, "topics": []}) for number in range(2)]
    parsed = parse("\n\n".join(lines), 1)
    assert known(parsed.clusters) == [{"captured_time": NOW}, {"captured_time": NOW + 1}]
    assert parsed.topics == []


def test_no_topic_has_the_id_of_none() -> None:
    parsed = parse(json.dumps(changed(["topics", 0, "topic_id"], "A" * 22)), 1)
    assert [row["topic_id"] for row in parsed.topics] == [None, None]


def test_separators_of_other_kinds_do_not_cut_a_line() -> None:
    (cluster,) = parse(json.dumps(changed(["brokers", 0, "host"], "a\u2028b\x85"), ensure_ascii=False), 1).clusters
    assert cluster["brokers"][0]["host"] == "a\u2028b\x85"


def test_what_kafka_get_offsets_prints() -> None:
    parsed = parse("a.b_c-d:0:17\n\n a.b_c-d:12:0 \r\n__consumer_offsets:3:-1\nt:4:\n", NOW)
    assert parsed.clusters == [{"captured_time": NOW}]
    rows = [(row["topic"], row["partition"], row["log_end_offset"]) for row in parsed.topics]
    assert rows == [("a.b_c-d", 0, 17), ("a.b_c-d", 12, 0), ("__consumer_offsets", 3, None), ("t", 4, None)]
    assert {row["captured_time"] for row in parsed.topics} == {NOW}


NO_TIME = "milliseconds since 1970 expected, such as 1795282587379"
NO_COUNT = "a whole number above 0 expected"
RETENTION = "settings.offsets.retention.minutes"
NO_TOPIC = "a topic's name (letters, digits, . _ -, at most 249) expected"
PARTITION = ["topics", 0, "partitions", 1]


def test_end_offsets_may_be_left_out() -> None:
    parsed = parse(json.dumps(changed([*PARTITION, "log_end_offset"], ...)), 1)
    assert "log_end_offset" not in known(parsed.topics)[1]


DESCRIBED = """\
Topic: a.b_c-d\tTopicId: {id}\tPartitionCount: 2\tReplicationFactor: 2\tConfigs: cleanup.policy=compact,x=Leader
\tTopic: a.b_c-d\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2\tElr: \tLastKnownElr: 
\tTopic: a.b_c-d\tPartition: 1\tLeader: none\tReplicas: 2,1\tIsr: \tElr: 2\tLastKnownElr: 

Topic: __consumer_offsets\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: 
\tTopic: __consumer_offsets\tPartition: 0\tLeader: 3\tReplicas: 3\tIsr: 3
"""  # noqa: W291


def test_what_kafka_topics_prints() -> None:
    parsed = parse(DESCRIBED.format(id=ID), NOW)
    assert known(parsed.topics) == [
        {"captured_time": NOW, "topic": "a.b_c-d", "topic_id": ID, "partition": 0},
        {"captured_time": NOW, "topic": "a.b_c-d", "topic_id": ID, "partition": 1},
        {"captured_time": NOW, "topic": "__consumer_offsets", "partition": 0},
    ]
    assert parsed.clusters == [{"captured_time": NOW, "offsets_partitions": [{"partition": 0, "leader": 3}]}]


def test_spaces_may_stand_where_kafka_topics_writes_tabs() -> None:
    text = DESCRIBED.format(id=ID)
    assert parse(text.replace("\t", "  "), NOW) == parse(text, NOW)


ONE = "Topic: t\tTopicId: {id}\tPartitionCount: 1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{ONE}\nnonsense", 'line 2: "nonsense", a line of kafka-topics --describe expected'),
        ("Topic: a/b\tPartitionCount: 1", f'line 1: Topic: "a/b", {NO_TOPIC}'),
        ("Topic: t\tTopicId: x\tPartitionCount: 1", 'line 1: TopicId: "x", a topic id of 22 characters expected'),
        ("Topic: t\tPartitionCount: x", 'line 1: PartitionCount: "x", an integer from 1 to 2147483647 expected'),
        ("Topic: t\tLeader: 1", 'line 1: "Topic: t\\tLeader: 1", a PartitionCount or a Partition expected'),
        (f"{ONE}\n{ONE}", 'line 2: Topic: "t" appears here a second time, each topic once expected'),
        (
            "Topic: t\tPartition: 0",
            'line 1: "Topic: t\\tPartition: 0", but no line before it has the PartitionCount of topic t',
        ),
        (f"{ONE}\nTopic: t\tPartition: 1", "line 2: Partition: 1, an integer from 0 to 0 expected"),
        (ONE, "line 1: topic t has PartitionCount 1, but lines of partitions: 0"),
        (
            f"{ONE}\nTopic: t\tPartition: 0\nTopic: t\tPartition: 0",
            "line 3: Partition: 0 appears here a second time, each partition once expected",
        ),
        (
            f"{ONE}\nTopic: t\tPartition: 0\tLeader: x",
            'line 2: Leader: "x", an integer from -1 to 2147483647 expected',
        ),
    ],
)
def test_a_malformed_description_is_reported_with_its_line(text: str, message: str) -> None:
    with pytest.raises(Malformed) as caught:
        parse(text.format(id=ID), NOW)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty; give snapshots"),
        ("\n \n", "empty; give snapshots"),
        ("t:0:1\n\nnonsense", 'line 3: "nonsense", topic:partition:offset expected'),
        ("t:0", 'line 1: "t:0", topic:partition:offset expected'),
        ("t:x:1", 'line 1: partition: "x", an integer from 0 to 2147483647 expected'),
        ("t:-1:1", "line 1: partition: -1, an integer from 0 to 2147483647 expected"),
        ("t:2147483648:1", "line 1: partition: 2147483648, an integer from 0 to 2147483647 expected"),
        ("t:0:1,2", 'line 1: offset: "1,2", an integer from -1 to 9223372036854775807 expected'),
        ("t:0:-2", "line 1: offset: -2, an integer from -1 to 9223372036854775807 expected"),
        ("t:0:٣", 'line 1: offset: "\\u0663", an integer from -1 to 9223372036854775807 expected'),
        (":0:1", f'line 1: topic: "", {NO_TOPIC}'),
        ("a:b:0:1", f'line 1: topic: "a:b", {NO_TOPIC}'),
        ("Error: t:0:1", f'line 1: topic: "Error: t", {NO_TOPIC}'),
        (f"{'t' * 250}:0:1", f'line 1: topic: "{"t" * 79}…, {NO_TOPIC}'),
    ],
)
def test_a_malformed_text_is_reported_with_its_line(text: str, message: str) -> None:
    with pytest.raises(Malformed) as caught:
        parse(text, NOW)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["captured_at"], ..., "captured_at: missing"),
        (["captured_at"], None, f"captured_at: null, {NO_TIME}"),
        (["captured_at"], "2024-01-01", f'captured_at: "2024-01-01", {NO_TIME}'),
        (["captured_at"], 2**48, f"captured_at: {2**48}, {NO_TIME}"),
        (["captured_at"], NOW // 1000, f"captured_at: {NOW // 1000}, {NO_TIME}"),
        (["captured_at"], NOW + 0.5, f"captured_at: {NOW}.5, {NO_TIME}"),
        (["topics"], ..., "topics: missing"),
        (["topics"], {}, "topics: {}, a list expected"),
        (["topics", 1], "t", 'topics[1]: "t", an object expected'),
        (["topics", 0, "topic"], "a/b", f'topics[0].topic: "a/b", {NO_TOPIC}'),
        (["topics", 0, "topic_id"], "short", 'topics[0].topic_id: "short", a topic id of 22 characters expected'),
        ([*PARTITION, "partition"], ..., "topics[0].partitions[1].partition: missing"),
        (
            [*PARTITION, "log_end_offset"],
            1.5,
            "topics[0].partitions[1].log_end_offset: 1.5, an integer from -1 to 9223372036854775807 expected",
        ),
        (
            [*PARTITION, "log_start_offset"],
            True,
            "topics[0].partitions[1].log_start_offset: true, an integer from -1 to 9223372036854775807 expected",
        ),
        (["topics", 0, "partitions", 0, "racks", 0], 1, "topics[0].partitions[0].racks[0]: 1, a text expected"),
        (["brokers", 0, "port"], 65_536, "brokers[0].port: 65536, an integer from 0 to 65535 expected"),
        (["offsets_partitions", 1, "leader"], ..., "offsets_partitions[1].leader: missing"),
        (
            ["offsets_partitions", 1, "partition"],
            0,
            "offsets_partitions: partition 0 twice, each partition once expected",
        ),
        (["settings"], [], "settings: [], an object expected"),
        (["settings", "a"], [1], "settings.a: [1], a text, number or truth value expected"),
        (["settings", "a"], "\ud800", 'settings.a: "\\ud800", a text expected'),
        (["settings", "offsets.retention.minutes"], "a week", f'{RETENTION}: "a week", {NO_COUNT}'),
        (["settings", "offsets.retention.minutes"], -1, f"{RETENTION}: -1, {NO_COUNT}"),
        (["settings", "offsets.retention.minutes"], "0", f'{RETENTION}: "0", {NO_COUNT}'),
        (["settings", "offsets.retention.minutes"], 1e30, f"{RETENTION}: 1e+30, {NO_COUNT}"),
        (
            ["groups", 0, "settings", "consumer.session.timeout.ms"],
            "45s",
            f'groups[0].settings.consumer.session.timeout.ms: "45s", {NO_COUNT}',
        ),
        (["cluster_id"], 7, "cluster_id: 7, a cluster id without spaces expected"),
        (["cluster_id"], "a b", 'cluster_id: "a b", a cluster id without spaces expected'),
        (["offsets_topic_id"], "short", 'offsets_topic_id: "short", a topic id of 22 characters expected'),
        (["groups"], {}, "groups: {}, a list expected"),
        (["groups", 1], "g", 'groups[1]: "g", an object expected'),
        (["groups", 1, "group_id"], ..., "groups[1].group_id: missing"),
        (["groups", 1, "group_id"], 7, "groups[1].group_id: 7, a text expected"),
        (["groups", 1, "group_id"], "g", 'groups: group_id "g" twice, each group once expected'),
        (["groups", 1, "settings"], ..., "groups[1].settings: missing"),
        (["groups", 1, "settings"], None, "groups[1].settings: null, an object expected"),
        (["groups", 0, "settings", "x"], [1], "groups[0].settings.x: [1], a text, number or truth value expected"),
    ],
)
def test_a_malformed_field_is_reported_with_its_place(path: list[str | int], value: object, message: str) -> None:
    with pytest.raises(Malformed) as caught:
        parse(f"{json.dumps(FULL)}\n{json.dumps(changed(path, value))}", NOW)
    assert str(caught.value) == f"line 2: {message}"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "{",
            "line 1: Expecting property name enclosed in double quotes at character 1; each line must be one snapshot",
        ),
        ('{"captured_at": 1}{}', "line 1: Extra data at character 18; each line must be one snapshot"),
        ("[1]", "line 1: [1], an object expected"),
        ('{"a":' * 100_000, "line 1: maximum recursion depth exceeded"),
    ],
)
def test_a_line_that_is_no_object_is_reported(line: str, message: str) -> None:
    with pytest.raises(Malformed) as caught:
        parse(line, NOW)
    assert str(caught.value).startswith(message)


KEY = ("captured_time", "topic", "partition")


def test_what_several_files_say_is_one_row() -> None:
    text = parse("t:1:5\nt:0:7", NOW)
    ours = {"topic": "t", "topic_id": ID, "partitions": [{"partition": 0, "log_start_offset": 2, "log_end_offset": 7}]}
    full = parse(json.dumps({"captured_at": NOW, "topics": [ours]}), 1)
    rows = merge_rows(
        ((name, row) for name, each in (("a", text), ("b", full), ("c", text)) for row in each.topics), KEY
    )
    assert rows == [
        {
            "captured_time": NOW, "topic": "t", "partition": 0, "log_end_offset": 7, "log_start_offset": 2,
            "topic_id": ID,
        },
        {"captured_time": NOW, "topic": "t", "partition": 1, "log_end_offset": 5},
    ]  # fmt: skip


def test_contradictions_name_both_files_and_both_values() -> None:
    ends: list[tuple[str, Snapshots]] = [
        ("unavailable.txt", parse("t:0:-1", NOW)),
        ("earliest.txt", parse("t:0:5", NOW)),
        ("latest.txt", parse("t:0:9", NOW)),
    ]
    with pytest.raises(Contradiction) as caught:
        merge_rows(((name, row) for name, each in ends for row in each.topics), KEY)
    assert str(caught.value) == (
        f"two snapshots contradict each other about captured_time {NOW}, topic t, partition 0: "
        "log_end_offset is 5 in earliest.txt, but 9 in latest.txt"
    )
    later = [("a", parse("t:0:5", NOW)), ("a", parse("t:0:9", NOW + 1))]
    assert len(merge_rows(((name, row) for name, each in later for row in each.topics), KEY)) == 2

"""`groupscope assign` over its pipes."""

import base64
import csv
import hashlib
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

TOPICS = [{"name": "a", "partitions": 5}, {"name": "b", "partitions": 3}]
MEMBERS = [
    {"member_id": "c1", "subscribed_topics": ["a", "b"]},
    {"member_id": "c2", "subscribed_topics": ["a", "b"]},
    {"member_id": "c3", "subscribed_topics": ["b"], "group_instance_id": "z"},
]
CLASSIC = {"group_protocol": "classic", "topics": TOPICS, "members": MEMBERS}


def assign(lines: list[Any], *flags: str) -> subprocess.CompletedProcess[str]:
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    command = [sys.executable, "-m", "jobs.cli", "assign", *flags]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def answers(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_each_line_is_answered_in_its_place() -> None:
    done = assign(
        [CLASSIC | {"id": 1}, CLASSIC | {"id": {"my": "own"}, "assignor": "roundrobin"}], "--assignor", "range"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert answers(done) == [
        {
            "id": 1,
            "assignment": [
                {"member_id": "c1", "partitions": [["a", 0], ["a", 1], ["a", 2], ["b", 1]]},
                {"member_id": "c2", "partitions": [["a", 3], ["a", 4], ["b", 2]]},
                {"member_id": "c3", "partitions": [["b", 0]]},
            ],
            "order": "exact",
        },
        {
            "id": {"my": "own"},
            "assignment": [
                {"member_id": "c1", "partitions": [["a", 0], ["a", 2], ["a", 4], ["b", 2]]},
                {"member_id": "c2", "partitions": [["a", 1], ["a", 3], ["b", 0]]},
                {"member_id": "c3", "partitions": [["b", 1]]},
            ],
            "order": "exact",
        },
    ]


def test_csv_and_table_have_a_row_for_each_member_and_for_each_error() -> None:
    lines = [
        CLASSIC | {"id": 1},
        CLASSIC | {"id": {"my": "own"}, "members": 5},
    ]
    expected = [
        ["1", "c1", "4", "a:0,2,4;b:2", "exact", "", ""],
        ["1", "c2", "3", "a:1,3;b:0", "exact", "", ""],
        ["1", "c3", "1", "b:1", "exact", "", ""],
        ['{"my":"own"}', "", "", "", "", "", "line 2: members: 5, expected a list"],
    ]
    comma = assign(lines, "--assignor", "roundrobin", "--format", "csv")
    assert comma.returncode == 21
    names, *rows = csv.reader(io.StringIO(comma.stdout))
    assert names == ["id", "member_id", "num_partitions", "partitions", "order", "assumed", "error"]
    assert rows == expected
    table = assign(lines, "--assignor", "roundrobin", "--format", "table")
    assert table.returncode == 21
    heading, ruler, *shown = table.stdout.splitlines()
    assert heading.split() == names
    # By the rulers below the headings, as an eye reads it.
    ends = [match.span() for match in re.finditer("-+", ruler)]
    assert [[line[start:end].strip() for start, end in ends] for line in shown] == expected


def test_lists_of_partitions_stay_in_the_order_of_the_answer() -> None:
    many = {"group_protocol": "classic", "topics": [{"name": "t", "partitions": 12}], "assignor": "sticky"}
    line = many | {"members": [{"member_id": "m", "subscribed_topics": ["t"]}]}
    (answer,) = answers(assign([line]))
    (_, row) = csv.reader(io.StringIO(assign([line], "--format", "csv").stdout))
    assert row[3] == "t:" + ",".join(str(partition) for _, partition in answer["assignment"][0]["partitions"])


def test_a_flag_holds_for_lines_without_the_field() -> None:
    lines = [CLASSIC, CLASSIC | {"release": "3.0"}]
    orders = [answer["order"] for answer in answers(assign(lines, "--assignor", "roundrobin", "--release", "2.8"))]
    assert orders == ["set", "exact"]


def test_a_wrong_line_is_reported_with_its_number_and_field_and_the_rest_is_answered() -> None:
    wrong = [
        ("{", "no JSON: Expecting property name enclosed in double quotes at character 2"),
        ("[NaN]", "no JSON: NaN is no number"),
        ("null", "null, expected an object"),
        ("", "empty, expected an object"),
        ('{"id": -1e999}', "-1e999, expected a number that 64 bits can hold"),
        ('{"id": %s}' % ("1" * 5_000), "a number of more than 4300 digits cannot be read"),
        ("[" * 5_000, "lists or objects within each other, too deep to be read"),
    ]
    done = assign([*(line for line, _ in wrong), CLASSIC | {"id": 3, "members": 5}, CLASSIC | {"id": 5}])
    assert done.returncode == 21
    assert done.stderr == ""
    *result, named, answered = answers(done)
    assert [(answer["id"], answer["error"]) for answer in result] == [
        (None, f"line {number}: {reported}") for number, (_, reported) in enumerate(wrong, 1)
    ]
    assert (named["id"], named["error"]) == (3, "line 8: members: 5, expected a list")
    assert (answered["id"], answered["error"]) == (5, "line 9: assignor: missing")


def test_a_line_whose_bytes_are_no_text_is_reported_too() -> None:
    command = [sys.executable, "-m", "jobs.cli", "assign"]
    done = subprocess.run(command, input=b'{"id": "\xff"}\n', capture_output=True, check=False)
    assert json.loads(done.stdout) == {"id": None, "error": "line 1: no JSON: byte 9 is not UTF-8"}


def test_a_standard_input_that_is_closed_is_reported_in_one_line() -> None:
    done = subprocess.run(f"{sys.executable} -m jobs.cli assign <&-", shell=True, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (21, b"")
    assert done.stderr == b"groupscope: standard input is closed; give JSON lines there, or a file of them\n"


def test_an_assignor_of_another_protocol_or_a_release_too_old_is_reported() -> None:
    modern = {
        "group_protocol": "consumer",
        "topics": [{"name": "a", "partitions": 1, "topic_id": "AAAAAAAAAAAAAAAAAAAAAQ"}],
        "members": [{"member_id": "m", "subscribed_topics": ["a"]}],
    }
    lines = [
        modern | {"assignor": "roundrobin"},
        modern | {"assignor": "range", "release": "3.8"},
        modern | {"assignor": "simple", "release": "3.8", "group_protocol": "share"},
    ]
    assert [answer["error"] for answer in answers(assign(lines))] == [
        'line 1: assignor: "roundrobin", expected one of uniform, range (consumer)',
        "line 2: release: older than 3.9, the first whose range (consumer) is known",
        "line 3: release: older than 3.9, the first whose simple (share) is known",
    ]


def test_where_kafkas_assignor_fails_the_answer_names_the_field_that_no_coordinator_writes() -> None:
    """Kafka's own class fails for both."""
    a, b = ({"name": name, "partitions": 2, "topic_id": f"AAAAAAAAAAAAAAAAAAAAA{end}"} for name, end in ("aQ", "bg"))
    first = {"member_id": "m", "subscribed_topics": ["a"], "target": [["a", [0]]]}
    twice = {"member_id": "n", "subscribed_topics": ["a"], "target": [["a", [0]]]}
    beyond = {"member_id": "n", "subscribed_topics": ["a", "b"], "target": [["a", [2]]]}
    asked = {"group_protocol": "consumer", "assignor": "uniform", "topics": [a, b]}
    done = assign([asked | {"members": [first, second]} for second in (twice, beyond)])
    assert done.returncode == 21
    fails = "; Kafka's assignor would end with an exception: "
    assert [answer["error"].partition(fails)[:2] for answer in answers(done)] == [
        ("line 1: members[1].target: a-0 is in members[0].target too", fails),
        ("line 2: members[1].target: a has 2 partitions, and no 2", fails),
    ]


def test_share_groups_and_the_proposals_assignor_are_answered_too() -> None:
    """The lists of the share group are those of Kafka's own classes (tests/udfs/assignors/share)."""
    orders = {"name": "orders", "partitions": 2, "topic_id": "AAAAAAAAAAAAAAAAAAAAAQ"}
    members = [{"member_id": member, "subscribed_topics": ["orders"]} for member in "abc"]
    share = {"group_protocol": "share", "assignor": "simple", "topics": [orders], "members": members}
    proposal = {
        "group_protocol": "classic",
        "assignor": "constrained-cooperative-sticky",
        "topics": TOPICS,
        "members": MEMBERS[:2],
    }
    lines = [share, share | {"release": "4.1"}, share | {"assignable": [["orders", [1]]]}, proposal]
    lines.append(proposal | {"members": MEMBERS})
    *result, refused = answers(assign(lines))
    assert [[member["partitions"] for member in answer["assignment"]] for answer in result] == [
        [[["orders", 0], ["orders", 1]], [["orders", 1]], [["orders", 0]]],
        [[["orders", 1]], [["orders", 0]], [["orders", 1]]],
        [[["orders", 1]]] * 3,
        [[["a", 0], ["b", 0], ["a", 1], ["b", 1]], [["a", 2], ["b", 2], ["a", 3], ["a", 4]]],
    ]
    assert [answer["order"] for answer in result] == ["exact"] * 4
    assert refused["error"].startswith("line 5: members[2].subscribed_topics: other topics than those of members[0]")


def test_a_file_is_answered_as_standard_input_is(tmp_path: Path) -> None:
    lines = [CLASSIC | {"id": 1}, CLASSIC | {"id": 2, "assignor": "roundrobin"}]
    file = tmp_path / "specs.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    done = assign([], str(file), "--assignor", "range")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == assign(lines, "--assignor", "range").stdout
    missing = assign([], str(tmp_path / "absent.jsonl"))
    assert (missing.returncode, missing.stdout) == (21, "")
    message = "No such file or directory; give a file of JSON lines"
    assert missing.stderr == f"groupscope: {tmp_path}/absent.jsonl: {message}\n"


def test_topic_ids_that_are_left_out_are_assumed() -> None:
    """Whoever knows the id gets the order that goes by it; here the answer is that of the stand-ins."""
    topics = [{"name": name, "partitions": 3} for name in "ab"]
    members = [{"member_id": member, "subscribed_topics": ["a", "b"]} for member in ("m", "n")]
    stand_ins = [
        topic | {"topic_id": base64.urlsafe_b64encode(hashlib.md5(topic["name"].encode()).digest()).decode()[:22]}
        for topic in topics
    ]
    for protocol, assignor in (("consumer", "uniform"), ("consumer", "range"), ("share", "simple")):
        asked = {"group_protocol": protocol, "assignor": assignor, "topics": topics, "members": members}
        without, partly, known = answers(
            assign([asked, asked | {"topics": [stand_ins[0], topics[1]]}, asked | {"topics": stand_ins}])
        )
        assert known["order"] == "exact"
        assert "assumed" not in known
        assert without == partly == known | {"order": "set", "assumed": ["topic_id"]}


def test_topic_ids_of_classic_groups_are_not_asked_for() -> None:
    (answer,) = answers(assign([CLASSIC], "--assignor", "range"))
    assert set(answer) == {"id", "assignment", "order"}

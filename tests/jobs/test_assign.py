"""`groupscope assign` over its pipes."""

import json
import subprocess
import sys
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


def test_a_flag_holds_for_lines_without_the_field() -> None:
    lines = [CLASSIC, CLASSIC | {"release": "3.0"}]
    orders = [answer["order"] for answer in answers(assign(lines, "--assignor", "roundrobin", "--release", "2.8"))]
    assert orders == ["set", "exact"]


def test_a_wrong_line_is_told_by_number_and_field_and_the_rest_is_answered() -> None:
    done = assign(["{", "[NaN]", CLASSIC | {"id": 3, "members": 5}, "", CLASSIC | {"id": 5}], "--assignor", "range")
    assert done.returncode == 21
    assert done.stderr == ""
    found = answers(done)
    assert [answer["id"] for answer in found] == [None, None, 3, None, 5]
    assert [answer.get("error", "")[:29] for answer in found] == [
        "line 1: no JSON: Expecting pr",
        "line 2: no JSON: NaN is no nu",
        "line 3: members: 5, expected ",
        "line 4: no JSON: Expecting va",
        "",
    ]


def test_an_assignor_of_another_protocol_or_a_release_too_old_is_told() -> None:
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
        "line 1: assignor: 'roundrobin', expected one of uniform, range (consumer)",
        "line 2: release: older than 3.9, the first whose range (consumer) is known",
        "line 3: release: older than 3.9, the first whose simple (share) is known",
    ]


def test_where_kafkas_assignor_fails_the_answer_says_so() -> None:
    line = {
        "group_protocol": "consumer",
        "assignor": "uniform",
        "topics": [{"name": "a", "partitions": 2, "topic_id": "AAAAAAAAAAAAAAAAAAAAAQ"}],
        "members": [{"member_id": m, "subscribed_topics": ["a"], "target": [["a", [0]]]} for m in ("m", "n")],
    }
    done = assign([line])
    assert done.returncode == 21
    assert answers(done)[0]["error"].startswith("line 1: Kafka's assignor fails: ")


def test_a_wrong_flag_is_a_failure_of_usage() -> None:
    done = assign([], "--release", "newest")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--release" in done.stderr


def test_share_groups_and_the_proposals_assignor_are_answered_too() -> None:
    """The share group's lists are what Kafka's own classes gave (tests/assignors/test_share_assignors.py)."""
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
    *found, refused = answers(assign(lines))
    assert [[member["partitions"] for member in answer["assignment"]] for answer in found] == [
        [[["orders", 0], ["orders", 1]], [["orders", 1]], [["orders", 0]]],
        [[["orders", 1]], [["orders", 0]], [["orders", 1]]],
        [[["orders", 1]]] * 3,
        [[["a", 0], ["b", 0], ["a", 1], ["b", 1]], [["a", 2], ["b", 2], ["a", 3], ["a", 4]]],
    ]
    assert [answer["order"] for answer in found] == ["exact"] * 4
    assert refused["error"].startswith("line 5: members[2].subscribed_topics: other topics than those of members[0]")

"""What `groupscope assign` takes, and how it says what it does not."""

import json
from typing import Any

import pytest

from udfs.assignors.answers import answer_to
from udfs.assignors.questions import NEWEST_PATCH, NEWEST_RELEASE, SpecError, read_spec

# Kafka's own bytes: version 3, topic a, owned a-0 and a-2, generation 5, rack r; user data 0x01.
SUBSCRIPTION = "00030000000100016100000001010000000100016100000002000000000000000200000005000172"


def spec(**fields: Any) -> dict[str, Any]:
    return {
        "group_protocol": "classic",
        "assignor": "range",
        "topics": [{"name": "a", "partitions": 3}],
        "members": [{"member_id": "m1", "subscribed_topics": ["a"]}],
    } | fields


def member(**fields: Any) -> dict[str, Any]:
    return spec(members=[{"member_id": "m1"} | fields])


def test_a_subscription_is_read_from_its_bytes() -> None:
    (read,) = read_spec(member(subscription=SUBSCRIPTION, group_instance_id="i")).members
    assert (read.member_id, read.group_instance_id) == ("m1", "i")
    assert read.subscribed_topics == ("a",)
    assert read.owned == (("a", (0, 2)),)
    assert (read.generation, read.rack_id, read.user_data) == (5, "r", b"\x01")


def test_a_subscription_of_an_unknown_version_is_read_as_the_newest_known() -> None:
    (read,) = read_spec(member(subscription="0009" + SUBSCRIPTION[4:] + "ffff")).members
    assert read.generation == 5


def test_defaults_fill_what_a_line_lacks() -> None:
    read = read_spec(spec(release="3.9.1"), {"release": "2.4", "jdk": 21})
    assert (read.release, read.jdk) == ((3, 9, 1), 21)
    assert read_spec(spec(), {"release": "2.4"}).release == (2, 4, NEWEST_PATCH)
    assert read_spec(spec()).release == NEWEST_RELEASE


def test_null_is_like_a_field_that_is_not_there() -> None:
    assert read_spec(member(rack_id=None, owned=None, generation=None)) == read_spec(member())


def test_what_kafka_takes_for_absent_is_absent() -> None:
    (read,) = read_spec(member(rack_id="", generation=-1)).members
    assert (read.rack_id, read.generation) == (None, None)


A = {"name": "a", "partitions": 1, "topic_id": "AAAAAAAAAAAAAAAAAAAAAQ"}
WRONG: list[tuple[Any, str]] = [
    ([], "[], expected an object"),
    (spec(extra=1), "extra: unknown field"),
    (spec(group_protocol="streams"), 'group_protocol: "streams", expected one of classic, consumer, share'),
    (spec(topics={}), "topics: {}, expected a list"),
    (spec(topics=[{"name": "a"}]), "topics[0].partitions: missing"),
    (spec(topics=[{"name": "a", "partitions": -1}]), "topics[0].partitions: -1, expected an integer"),
    (spec(topics=[{"name": "a", "partitions": True}]), "topics[0].partitions: true, expected an integer"),
    (spec(topics=[{"name": "a", "partitions": 2_000_000_000}]), "topics: 2000000000 partitions together"),
    (spec(topics=[{"name": "a", "partitions": 1}] * 2), 'topics[1].name: "a" again'),
    (
        spec(topics=[{"name": "a", "partitions": 2, "racks": [["r"]]}]),
        "topics[0].racks: 1 lists, expected one for each",
    ),
    (spec(topics=[{"name": "a", "partitions": 1, "topic_id": "short"}]), 'topics[0].topic_id: "short"'),
    (
        spec(group_protocol="consumer", topics=[A, A | {"name": "b"}]),
        'topics[1].topic_id: "AAAAAAAAAAAAAAAAAAAAAQ" again',
    ),
    (member(target=[]), "members[0].target: expected only with group_protocol consumer or share"),
    (spec(assignable=[]), "assignable: expected only with group_protocol share"),
    (
        spec(group_protocol="share", topics=[A], leader_memory=1),
        "leader_memory: expected only with group_protocol classic",
    ),
    (
        spec(group_protocol="share", topics=[A], members=[{"member_id": "m", "subscription": SUBSCRIPTION}]),
        "members[0].subscription: expected only with group_protocol classic",
    ),
    (spec(members=[]), "members: [], expected at least one member"),
    (spec(members=[{"subscribed_topics": []}]), "members[0].member_id: missing"),
    (spec(members=[{"member_id": "m"}, {"member_id": "m"}]), 'members[1].member_id: "m" again'),
    (member(subscribed_topics="a"), 'members[0].subscribed_topics: "a", expected a list'),
    (member(subscribed_topics=["a", "a"]), 'members[0].subscribed_topics: ["a", "a"], expected each topic once'),
    (member(owned=[["a"]]), 'members[0].owned[0]: ["a"], expected ["topic", [partitions]]'),
    (member(owned=[["a", [0, 0]]]), "members[0].owned[0]: "),
    (member(owned=[["a", [0, -1]]]), "members[0].owned[0][1]: [0, -1], expected partitions"),
    (member(owned=[["a", ["0"]]]), 'members[0].owned[0][1]: ["0"], expected partitions'),
    (member(user_data="0g"), 'members[0].user_data: "0g", expected bytes'),
    (member(subscription="0003"), "members[0].subscription: topics: "),
    (member(subscription="00"), "members[0].subscription: 1 bytes hold no version"),
    (member(subscription=SUBSCRIPTION, owned=[]), "members[0].owned: expected either it or members[0].subscription"),
    (spec(release="new"), 'release: "new", expected a release'),
    (spec(release=3.9), "release: 3.9, expected a string"),
    (spec(release="4.5"), 'release: "4.5", expected at most 4.4'),
    (spec(jdk=8), "jdk: 8, expected one of 17, 21"),
    (spec(leader_memory="5"), 'leader_memory: "5", expected an integer'),
]


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_what_is_wrong_is_named_by_its_path(line: Any, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_spec(line)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("protocol", "assignor"), [("consumer", "uniform"), ("consumer", "range"), ("share", "simple")]
)
def test_a_topic_named_by_half_of_a_surrogate_pair_gets_a_stand_in_id(protocol: str, assignor: str) -> None:
    """Java writes such a half as it writes a character."""
    members = [{"member_id": "m", "subscribed_topics": ["a\ud800"]}]
    topics = [{"name": "a\ud800", "partitions": 1}]
    line = spec(group_protocol=protocol, assignor=assignor, topics=topics, members=members)
    answer = answer_to(1, json.dumps(line).encode())
    assert answer["assignment"] == [{"member_id": "m", "partitions": [("a\ud800", 0)]}]


def test_a_long_name_is_shortened_where_it_is_unknown() -> None:
    with pytest.raises(SpecError) as caught:
        read_spec(member(**{"x" * 100_000: 1}))
    assert str(caught.value).startswith("members[0].xxxx") and len(str(caught.value)) < 300


def test_a_target_of_a_topic_without_an_id_is_refused() -> None:
    line = spec(
        group_protocol="consumer",
        topics=[A],
        members=[{"member_id": "m", "target": [["gone", [0]]]}],
    )
    with pytest.raises(SpecError, match=r'^members\[0\]\.target: "gone", expected a topic of `topics`'):
        read_spec(line)

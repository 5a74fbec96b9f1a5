"""The hash of a group's topics, by the values that Kafka's own library gave."""

from udfs.assignors.questions import Topic
from udfs.topics.ids import topic_id_of
from udfs.topics.metadata_hash import group_hash, to_signed, topic_hash

FOO = Topic("foo", 2, topic_id_of(1, 2), (("rack0", "rack1"), ("rack1", "rack2")))
BAR = Topic("bar", 3, topic_id_of(1, 3))


def test_a_topic_is_hashed_with_the_racks_of_its_replicas() -> None:
    assert to_signed(topic_hash(FOO)) == 4353889350917689232


def test_a_topic_without_racks_is_hashed_by_its_partitions() -> None:
    assert to_signed(topic_hash(BAR)) == -1818907426565134091


def test_a_topic_with_many_partitions_is_hashed_in_time_that_grows_with_them() -> None:
    """A garbage record can name any partition; where racks are unknown, they are as if no broker had one."""
    without = ((),) * 200_000
    assert topic_hash(Topic("big", 200_000, BAR.topic_id)) == topic_hash(Topic("big", 200_000, BAR.topic_id, without))


def test_topics_are_hashed_by_name_whatever_their_order() -> None:
    assert group_hash([FOO, BAR]) == group_hash([BAR, FOO]) == 2156782545057150900


def test_racks_are_hashed_in_order_and_replicas_without_one_are_left_out() -> None:
    racks = (("rack1", None, "rack0"), ("rack2", "rack1"))
    assert topic_hash(Topic("foo", 2, FOO.topic_id, racks)) == topic_hash(FOO)


def test_no_topics_hash_to_nothing() -> None:
    assert group_hash([]) == 0

"""A log under a fresh broker of its release: what that broker believes of every group is what the history tables say
of the log's end."""

import random
from collections import Counter

import pytest

from tests.builders.generated.log import compacted, generated, some_topics
from tests.builders.warehouses.replayed_segments import replay_with
from tests.kafka.histories.belief import OFFSETS_TOPIC, belief
from tests.kafka.observations import observations_of
from tests.kafka.records.cut_logs import cut_at_random
from tests.kafka.releases import KAFKA_3_9_NEW, KAFKA_3_9_OLD, NEWEST, RELEASES
from tests.make.log import write
from tests.oracles.history.agreement import SHOWN, SHOWN_BY_3_9, end_disagreements

pytestmark = pytest.mark.broker
# A pending commit that a tombstone took: the older coordinator, and it alone, brings it back when it loads the log.
REVIVED_BY_OLD = "deleted-in-between"
# A group that has nothing but a commit of an open transaction: this coordinator, and it alone, does not list it.
UNLISTED_BY_3_9_NEW = "transaction-left-open"
BUT = {KAFKA_3_9_OLD.name: frozenset({REVIVED_BY_OLD}), KAFKA_3_9_NEW.name: frozenset({UNLISTED_BY_3_9_NEW})}


def shown_by(release):
    return SHOWN if release.is_modern else SHOWN_BY_3_9


# On a busy machine sessions of members end before the broker that loaded them is asked: then a fresh one is.
MOST_TRIES = 3


def assert_believed(release, topics, log_dir, folder, but=frozenset(), outlived=frozenset()):
    """`but` are groups of which the broker is known to believe something else; `outlived` those with an offset that was
    pending when it was deleted. Returns how many groups of each type and state there were."""
    _, partitions = topics[OFFSETS_TOPIC]
    of_users = {name: facts for name, facts in topics.items() if not name.startswith("__")}
    folder.mkdir(parents=True, exist_ok=True)
    replayed = replay_with(of_users, folder / "warehouse", log_dir)
    for number in range(MOST_TRIES):
        scratch = folder / f"broker-{number}"
        scratch.mkdir(parents=True)
        looks = belief(release, log_dir, of_users, scratch, partitions)
        found = end_disagreements(replayed, looks, shown_by(release))
        if found.keys() == but:
            break
    assert found.keys() == but, "\n".join(found.values())
    anomalies = replayed.tables["replay_anomalies"]
    # Whatever a coordinator writes, and a cleaner takes away, is no fault of the log.
    assert [row for row in anomalies if row["severity"] != "info"] == []
    # Whichever release wrote it, and whoever loads it.
    kinds = {(row["group_id"], row["kind"]) for row in anomalies if row["group_id"] in outlived}
    assert kinds == {(group, "pending_outlived_deletion") for group in outlived}
    return Counter(f"{look['group_type']} {look['state']}" for look in looks)


def topics_of(rows):
    return {row["topic"]: (row["topic_id"], row["num_partitions"]) for row in rows}


CAPTURED = tuple(RELEASES)


@pytest.mark.drawn_together(2)
@pytest.mark.drawn(1)
@pytest.mark.parametrize(
    ("capture", "is_compacted"),
    [*((name, False) for name in CAPTURED), (CAPTURED[0], True)],
    indirect=["capture"],
)
def test_a_broker_that_loads_a_captured_log_believes_what_the_tables_say(capture, is_compacted, tmp_path):
    release, topics = RELEASES[capture.release], topics_of(capture.answers["topics"])
    if is_compacted:
        found = assert_believed(release, topics, capture.compacted.log_dir, tmp_path)
    else:
        but = BUT.get(release.name, frozenset())
        found = assert_believed(release, topics, capture.log_dir, tmp_path, but, {REVIVED_BY_OLD})
    assert found["classic Empty"] > 5


@pytest.mark.drawn_together(2)
@pytest.mark.parametrize("name", [CAPTURED[0], *(pytest.param(name, marks=pytest.mark.soak) for name in CAPTURED[1:])])
def test_a_broker_that_loads_a_log_cut_anywhere_believes_what_the_tables_say(name, tmp_path, rng):
    """With members in the middle of whatever they did then."""
    observations = observations_of(RELEASES[name])
    log_dir = cut_at_random(observations.log_dir, tmp_path / "cut", rng)
    topics = topics_of(observations.of_kind("topic"))
    assert assert_believed(observations.release, topics, log_dir, tmp_path / "believed")


@pytest.mark.drawn_together(2)
@pytest.mark.parametrize("logs", [3, pytest.param(100, marks=pytest.mark.soak)])
def test_a_broker_that_loads_generated_logs_believes_what_the_tables_say(logs, tmp_path, seed):
    """Each a partition of its own, and each a second time as the cleaner leaves it."""
    chance = random.Random(seed)
    topics = some_topics(chance)
    partitions = 2 * logs
    for partition in range(partitions):
        log = generated(chance.getrandbits(32), partition, partitions, topics)
        write(tmp_path / "log", partition, log.batches if partition < logs else compacted(log))
    found = assert_believed(NEWEST, topics | {OFFSETS_TOPIC: ("", partitions)}, tmp_path / "log", tmp_path)
    assert {name.split()[0] for name in found} == {"classic", "consumer", "share", "streams"}

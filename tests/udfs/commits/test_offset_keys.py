"""Keys of commits as codes in the order of names."""

import numpy as np
import pyarrow as pa

from tests.builders.groups.offset_logs import commit, commits_table, deletion, markers_table
from udfs.commits.frames import keys_of, names_of, stable_order
from udfs.commits.group_questions import Questions
from udfs.commits.link_commits import OffsetReplay
from udfs.commits.offset_endings import OffsetFacts


def test_more_keys_than_sixteen_bits_count_keep_the_order_of_the_log(rng: np.random.Generator) -> None:
    codes = rng.integers(0, 200_000, 300_000).astype(np.int32)
    assert (stable_order(codes, 200_000) == np.argsort(codes, kind="stable")).all()


def test_keys_beyond_one_number_are_told_apart(rng: np.random.Generator) -> None:
    """So many names, and partitions so far apart, that their product does not fit 64 bits."""
    size, num_topics = 1000, 2**31
    group, topic = (rng.choice([0, 1, 2**31 - 1], size).astype(np.int32) for _ in range(2))
    partition = rng.choice([-(2**31), -1, 0, 2**31 - 1], size)
    keys, code = keys_of(group, topic, partition, num_topics)
    assert (keys.group[code] == group).all()
    assert (keys.topic[code] == topic).all()
    assert (keys.partition[code] == partition).all()
    named = list(zip(keys.group.tolist(), keys.topic.tolist(), keys.partition.tolist(), strict=True))
    assert named == sorted(set(named))


def test_names_read_as_dictionaries_are_those_read_as_text() -> None:
    text = pa.chunked_array([["b", "a", None], ["c", "b"]], pa.string())
    mixed = [pa.chunked_array([text.chunk(0)]), pa.chunked_array([text.chunk(1).dictionary_encode()])]
    for columns in ([text], mixed):
        names, codes = names_of(columns)
        assert names.to_pylist() == ["a", "b", "c"]
        assert codes.tolist() == [1, 0, -1, 2, 1]


def test_commits_read_as_dictionaries_give_the_same_rows() -> None:
    log = [commit(1, topic_id="A"), commit(2, group_id="b", metadata="m"), deletion(3)]
    rows = commits_table(log)
    coded = rows
    for name in ("group_id", "topic", "topic_id", "metadata"):
        coded = coded.set_column(rows.schema.get_field_index(name), name, rows[name].dictionary_encode())
    found = []
    for table in (rows, coded):
        run = OffsetReplay("c", 0, None, Questions.none(), OffsetFacts())
        closed = [run.take(table.slice(0, 2), markers_table([])), run.take(table.slice(2), markers_table([]))]
        finished = run.finish()
        found.append((closed, finished.closed, finished.open, finished.state, finished.liveness))
    assert found[0] == found[1]


def test_deletions_without_times_are_writes_of_their_own() -> None:
    """Nothing says that they belong together, so the second still holds when the first goes."""
    log = [commit(1, expire_time=2), commit(2, partition=1), deletion(3, record_time=None)]
    log.append(deletion(4, record_time=None, partition=1))
    run = OffsetReplay("c", 0, None, Questions.none(), OffsetFacts())
    rows = run.take(commits_table(log), markers_table([]))["offset_history"].to_pylist()
    assert [row["ended_by"] for row in rows] == ["deleted", "tombstone_unknown"]

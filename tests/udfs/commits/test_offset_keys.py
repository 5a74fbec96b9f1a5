"""Names and keys of commits as codes."""

import numpy as np
import pyarrow as pa

from tests.builders.groups.offset_logs import commit, commits_table, deletion, markers_table
from udfs.codes.kernels import counting_order
from udfs.codes.names import Codes, Names
from udfs.commits.group_questions import Questions
from udfs.commits.link_commits import OffsetReplay
from udfs.commits.offset_endings import OffsetFacts


def test_rows_of_one_key_keep_the_order_of_the_log(rng: np.random.Generator) -> None:
    codes = rng.integers(0, 200_000, 300_000)
    assert (counting_order(codes, 200_000) == np.argsort(codes, kind="stable")).all()


def test_keys_are_distinguished_however_large_their_numbers_and_however_many_calls(rng: np.random.Generator) -> None:
    codes, of = Codes(), {}
    for size in (0, 1000, 5000, 3):
        triples = rng.choice([-(2**31), -1, 0, 1, *range(7, 40), 2**31 - 1], (3, size))
        values = codes.of(*triples).tolist()
        expected = [of.setdefault(key, len(of)) for key in zip(*triples.tolist(), strict=True)]
        assert values == expected
    assert [tuple(each) for each in codes.known[:, : codes.count].T.tolist()] == list(of)


def test_names_read_as_dictionaries_are_those_read_as_text() -> None:
    text = pa.chunked_array([["b", "a", None], ["c", "b"]], pa.string())
    for column in (text, text.dictionary_encode()):
        names = Names()
        assert names.codes(pa.chunked_array([["a"]])).tolist() == [0]
        assert names.codes(column).tolist() == [1, 0, -1, 2, 1]
        assert names.known.to_pylist() == ["a", "b", "c"]


def test_a_column_has_only_names_that_rows_have() -> None:
    names = Names()
    names.codes(pa.chunked_array([["c", "a", "b"]]))
    column = names.column(np.array([2, -1, 0, 2]))
    assert column.to_pylist() == ["b", None, "c", "b"]
    assert column.dictionary.to_pylist() == ["c", "b"]
    assert names.column(np.array([-1])).to_pylist() == [None]
    assert Names().column(np.array([-1])).to_pylist() == [None]


def test_names_that_are_kept_get_new_codes() -> None:
    names, codes = Names(), np.array([3, -1, 1])
    names.codes(pa.chunked_array([["d", "c", "b", "a"]]))
    names.keep(codes)
    assert names.known.take(pa.array(codes, mask=codes < 0)).to_pylist() == ["a", None, "c"]
    assert names.codes(pa.chunked_array([["e", "c"]])).tolist() == [2, 0]


def test_commits_read_as_dictionaries_give_the_same_rows() -> None:
    log = [commit(1, topic_id="A"), commit(2, group_id="b", metadata="m"), deletion(3)]
    rows = commits_table(log)
    coded = rows
    for name in ("group_id", "topic", "topic_id", "metadata"):
        coded = coded.set_column(rows.schema.get_field_index(name), name, rows[name].dictionary_encode())
    result = []
    for table in (rows, coded):
        run = OffsetReplay("c", 0, None, Questions.none(), OffsetFacts())
        closed = [run.take(table.slice(0, 2), markers_table([])), run.take(table.slice(2), markers_table([]))]
        finished = run.finish()
        result.append((closed, finished.closed, finished.open, finished.state, finished.liveness))
    assert result[0] == result[1]


def test_deletions_without_times_are_writes_of_their_own() -> None:
    """Nothing says that they belong together, so the second still holds when the first goes."""
    log = [commit(1, expire_time=2), commit(2, partition=1), deletion(3, record_time=None)]
    log.append(deletion(4, record_time=None, partition=1))
    run = OffsetReplay("c", 0, None, Questions.none(), OffsetFacts())
    rows = run.take(commits_table(log), markers_table([]))["offset_history"].to_pylist()
    assert [row["ended_by"] for row in rows] == ["deleted", "tombstone_unknown"]

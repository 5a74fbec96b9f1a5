"""Rows of group_verdicts: of what there are rows, groups as a whole, evidence, and types."""

import numpy as np

from schemas.tables import TABLES
from tests.builders.tables.measured import verdict_rows
from tests.builders.tables.verdict_history import Row, committed, ends, history
from udfs.arrays.arrow_schema import table_schema
from udfs.lag.as_of import key_codes
from udfs.rules.facts.verdict_keys import keys_at
from udfs.rules.verdicts.burrow_evaluation import BurrowRules
from udfs.rules.verdicts.own_verdict import OwnRules

POINTS = [row for partition in range(3) for row in ends((100, 1000), (3000, 2000), (3990, 3000), partition=partition)]
LATE = committed(*((time, 1000) for time in range(2000, 3000, 90)))
DONE = committed((2500, 1500), (3900, 3000), partition=1, first_offset=300)
UNSEEN = committed((3950, 7), partition=5, first_offset=400)
MEMBER: list[Row] = [{"group_type": "consumer"}]


def rows(*parts: dict[str, list[Row]], **tables: list[Row]) -> list[Row]:
    given = {name: [row for part in parts for row in part[name]] for name in ("commits", "offset_history")}
    tables = {"ends": POINTS, "group_state_intervals": MEMBER} | tables
    return list(verdict_rows(history(4000, **given, **tables), BurrowRules(), OwnRules()).to_pylist())


def test_a_group_has_the_verdict_of_its_worst_partition_and_sums() -> None:
    first, done, unseen, group = rows(LATE, DONE, UNSEEN)
    assert [(row["topic"], row["partition"]) for row in (first, done, unseen, group)] == [
        ("t", 0), ("t", 1), ("t", 5), (None, None),
    ]  # fmt: skip
    assert [row["own_verdict"] for row in (first, done, unseen, group)] == ["STOP", "OK", "UNKNOWN", "STOP"]
    assert [row["lag"] for row in (first, done, unseen, group)] == [2000, 0, None, 2000]
    assert group["rule"] == group["burrow_rule"] == "worst_partition"
    assert group["reason"] == (
        "1 of 3 partitions STOP, such as t 0: no commit for 16 min 50 s, before that one every 1 min 30 s, while "
        "others were committed; 1,000 or more messages were written since; the lag of 1 partition is unknown"
    )
    assert (group["last_commit_time"], group["since_time"]) == (unseen["last_commit_time"], first["since_time"])
    assert {row["group_type"] for row in (first, done, unseen, group)} == {"consumer"}


def test_unknown_hides_behind_nothing_but_worse() -> None:
    done, _, group = rows(DONE, UNSEEN)
    assert (done["own_verdict"], group["own_verdict"], group["burrow_verdict"]) == ("OK", "UNKNOWN", "UNKNOWN")


def test_evidence_spans_the_value_with_its_repeats_and_the_window_of_burrow() -> None:
    first, done, group = rows(LATE, DONE)
    assert (first["evidence_first_offset"], first["evidence_last_offset"]) == (100, 111)
    assert (done["evidence_first_offset"], done["evidence_last_offset"]) == (300, 301)
    assert (group["evidence_first_offset"], group["evidence_last_offset"], group["evidence_partition"]) == (100, 301, 7)


def test_an_owned_partition_without_a_commit_rests_on_its_owner() -> None:
    owned = [{"from_time": 100, "from_record_offset": 77, "partition": 2, "topic_id": "id"}]
    row, group = rows(ownership_intervals=owned)
    assert (row["topic_id"], row["evidence_first_offset"], row["evidence_last_offset"]) == ("id", 77, 77)
    assert (row["own_verdict"], row["burrow_rule"], group["burrow_verdict"]) == ("STOP", "no_commits", "NOTFOUND")
    assert (row["last_commit_time"], row["lag"], row["confidence"]) == (None, None, "likely")


def unsure(given: dict[str, list[Row]], *places: int) -> dict[str, list[Row]]:
    """Of its values these may never have held."""
    held = [row | {"confidence": "possible"} if place in places else row
            for place, row in enumerate(given["offset_history"])]  # fmt: skip
    return {**given, "offset_history": held}


BACK = committed((2500, 1500), (3000, 1800), (3900, 1600), partition=1, first_offset=300)


def test_a_verdict_is_no_surer_than_the_values_of_its_window() -> None:
    """The step back is one from the second value; the first one ended before the window."""
    old = committed((100, 1400), (350, 1500), (3000, 1800), (3900, 1600), partition=1, first_offset=300)
    for given, places, confidence in (
        (BACK, (), "certain"), (BACK, (2,), "possible"), (BACK, (1,), "possible"), (old, (0,), "certain"),
    ):  # fmt: skip
        row, group = rows(unsure(given, *places))
        assert (row["own_verdict"], row["confidence"], group["confidence"]) == ("REWIND", confidence, confidence)


def test_a_group_is_no_surer_than_any_of_its_partitions() -> None:
    """Its lag is the sum of all of them."""
    *_, group = rows(LATE, unsure(DONE, 0))
    assert (group["own_verdict"], group["confidence"]) == ("STOP", "possible")
    *_, group = rows(LATE, DONE)
    assert (group["own_verdict"], group["confidence"]) == ("STOP", "likely")


def test_a_topic_known_by_its_id_alone_has_no_name() -> None:
    row, _ = rows(ownership_intervals=[{"from_time": 100, "topic": None, "topic_id": "id"}])
    assert (row["topic"], row["topic_id"], row["rule"]) == (None, "id", "no_end_offsets")


def test_a_deleted_group_is_shown_only_while_burrow_counts_its_commits() -> None:
    deleted = [{"to_time": 3900, "to_record_offset": 500, "ended_by": "deleted", "from_record_offset": 1}]
    assert rows({"commits": DONE["commits"], "offset_history": []}, group_state_intervals=deleted) == []
    consumer = [deleted[0] | {"group_type": "consumer"}]
    row, _ = rows({"commits": DONE["commits"], "offset_history": []}, group_state_intervals=consumer)
    assert (row["rule"], row["burrow_rule"]) == ("nothing_held", "lag_allowed")


def test_columns_are_those_of_the_table_also_of_nothing() -> None:
    wanted = [field for field in table_schema(TABLES["group_verdicts"]) if field.name != "cluster"]
    for given in (history(4000), history(4000, **DONE)):
        table = verdict_rows(given, BurrowRules(), OwnRules())
        assert list(table.schema) == wanted
        table.validate(full=True)
        for field in wanted:
            assert field.nullable or not table[field.name].null_count, field.name


def test_keys_have_one_code_in_every_table(rng: np.random.Generator) -> None:
    steps = [
        committed((time, time), partition=int(rng.integers(0, 4)), group_id=str(rng.choice(["a", "b"])))
        for time in range(100, 160)
    ]
    keys = keys_at(history(4000, commits=[row for step in steps for row in step["commits"]],
                           offset_history=[row for step in steps[::2] for row in step["offset_history"]]))  # fmt: skip
    names = list(zip(*(keys.rows.column(name).to_pylist() for name in ("group_id", "partition")), strict=True))
    assert len(set(names)) == len(names)
    for table, codes in ((keys.commits, keys.of_commits), (keys.offsets, keys.of_offsets)):
        of_rows = zip(*(table.column(name).to_pylist() for name in ("group_id", "partition")), strict=True)
        assert [names[code] for code in codes] == list(of_rows)
    assert key_codes(("group_id",), keys.commits.slice(0, 0))[0].tolist() == []

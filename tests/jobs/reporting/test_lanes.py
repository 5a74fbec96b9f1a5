"""Lanes of groups against the tables, as SQL of its own reads them at drawn moments."""

import random
from bisect import bisect_right
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jobs import cli
from jobs.queries.engines.duckdb_engine import session_of
from jobs.warehouses.any_warehouse import reading
from schemas.tables import USER_TABLES
from tests.oracles.pages.documents import detail_of, document_at, rows_of, said

SEED, MOMENTS = 20, 6
Ask = Callable[[str], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def document(audited_sample: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("lanes")
    assert cli.main(["report", "--warehouse", str(audited_sample), "--report", str(folder)]) == 0
    return document_at(folder / "index.html")


@pytest.fixture(scope="module")
def ask(audited_sample: Path) -> Iterator[Ask]:
    """Times as milliseconds."""
    every = [f"SELECT 1 FROM {name}" for name in USER_TABLES]
    with session_of(reading(str(audited_sample)), every) as session:
        yield lambda statement: session.table(statement).to_pylist()


@pytest.fixture(scope="module")
def moments(document: dict[str, Any]) -> list[tuple[str, int]]:
    draw = random.Random(SEED)
    details = {group: detail_of(document, group) for group in document["details"]}
    return [
        (group, draw.randrange(detail["from"], detail["to"] + 1))
        for group, detail in details.items()
        for _ in range(MOMENTS)
    ]


def newest(table: dict[str, list[Any]], name: str, at: int) -> int:
    """The last row that began by then; -1: none."""
    return bisect_right(table[name], at) - 1 if name in table else -1


def at_time(column: str, at: int) -> str:
    return f"{column} <= make_timestamptz({at * 1000 + 999})"


def quoted(group: str) -> str:
    return "'" + group.replace("'", "''") + "'"


def test_states_and_owners_are_those_of_the_tables(
    document: dict[str, Any], ask: Ask, moments: list[tuple[str, int]]
) -> None:
    num_owned = 0
    for group, at in moments:
        detail = detail_of(document, group)
        begun, ended = at_time("from_time", at), at_time("to_time", at)
        holds = f"group_id = {quoted(group)} AND {begun} AND NOT coalesce({ended}, FALSE)"
        states = detail.get("states", {"from": []})
        shown = [
            (states["state"][each], states["generation"][each], states["members"][each])
            for each in range(len(states["from"]))
            if states["from"][each] <= at and (states["to"][each] is None or at < states["to"][each])
        ]
        rows = ask(f"SELECT state, generation_or_epoch, num_members FROM group_state_intervals WHERE {holds}")
        assert sorted(shown, key=repr) == sorted((tuple(row.values()) for row in rows), key=repr), (group, at)
        owners, parts = detail.get("owners", {"from": []}), detail.get("partitions", {})
        own = sorted(
            (parts["topic"][owners["partition"][each]], parts["partition"][owners["partition"][each]],
             detail["member_ids"][owners["member"][each]])
            for each in range(len(owners["from"]))
            if owners["view"][each] == "target" and owners["from"][each] <= at
            and (owners["to"][each] is None or at < owners["to"][each])
        )  # fmt: skip
        rows = ask(
            f"SELECT coalesce(topic, topic_id) AS topic, partition, member_id FROM ownership_intervals WHERE {holds}"
        )
        assert own == sorted(tuple(row.values()) for row in rows), (group, at)
        num_owned += len(own)
    assert num_owned > 100


def test_lag_and_committed_offsets_are_those_of_the_tables_then(
    document: dict[str, Any], ask: Ask, moments: list[tuple[str, int]]
) -> None:
    num_known = num_offsets = 0
    for group, at in moments:
        detail = detail_of(document, group)
        where = f"group_id = {quoted(group)}"
        last = f"SELECT max(snapshot_time) FROM lag_points WHERE {where} AND {at_time('snapshot_time', at)}"
        (row,) = ask(
            f"SELECT CAST(sum(lag) AS BIGINT) AS lag, count(*) - count(lag) AS num_unknown, max(lag) AS high, "
            f"min(lag) AS low, max(time_lag_ms) AS time_high FROM lag_points WHERE {where} AND snapshot_time = ({last})"
        )
        lag = detail.get("lag", {})
        place = newest(lag, "at", at)
        shown = [lag[name][place] if place >= 0 else None for name in ("last", "high", "low", "time_high")]
        assert shown == [row[name] for name in ("lag", "high", "low", "time_high")], (group, at)
        assert place < 0 or lag["unknown"][place] == row["num_unknown"]
        num_known += row["lag"] is not None
        # The offset of each partition that was committed last by then.
        commits, newest_offsets = detail.get("commits", {"at": []}), dict[tuple[str, int], int]()
        for each, time in enumerate(commits["at"]):
            if time <= at:
                part = commits["partition"][each]
                key = detail["partitions"]["topic"][part], detail["partitions"]["partition"][part]
                newest_offsets[key] = commits["offset"][each]
        rows = ask(
            "SELECT coalesce(topic, topic_id, '?') AS topic, partition, last(committed_offset ORDER BY from_time, "
            f"from_record_offset) AS committed FROM offset_history WHERE {where} AND {at_time('from_time', at)} "
            "GROUP BY 1, 2"
        )
        assert newest_offsets == {(row["topic"], row["partition"]): row["committed"] for row in rows}, (group, at)
        num_offsets += len(rows)
    assert num_known > 30 and num_offsets > 100


def test_on_the_map_nobody_reads_until_the_last_member_has_gone_and_then_the_group_is_down(
    document: dict[str, Any], ask: Ask
) -> None:
    shown, num_down = document["map"], 0
    for group, letters in shown["states"].items():
        rows = ask(
            "SELECT epoch_ms(from_time) AS at FROM group_state_intervals WHERE state = 'Empty' AND to_time IS NULL "
            f"AND group_id = {quoted(group)} AND group_id IN "
            "(SELECT group_id FROM group_verdicts WHERE rule = 'group_down')"
        )
        first = len(letters)
        for row in rows:
            first = (row["at"] - shown["from"]) * shown["columns"] // (shown["to"] - shown["from"])
            num_down += 1
        # A column that is for less than a tenth of it down has a small letter.
        assert {*letters[first + 1 :]} <= {"D"} and "D" not in letters[:first].upper(), (group, first, letters)
        assert not rows or letters[first - 1].upper() == "N", letters
    assert num_down


def test_a_lane_of_commits_ends_with_the_last_one_also_if_it_repeats_an_offset(
    document: dict[str, Any], ask: Ask
) -> None:
    num_repeating = 0
    for group in document["details"]:
        detail, last = detail_of(document, group), dict[tuple[str, int], tuple[int, int]]()
        for row in rows_of(detail.get("commits", {"at": []})):
            key = detail["partitions"]["topic"][row["partition"]], detail["partitions"]["partition"][row["partition"]]
            time, number = last.get(key, (0, 0))
            last[key] = max(time, row["at"]), number + row["count"]
        rows = ask(
            "SELECT coalesce(topic, topic_id, '?') AS topic, partition, "
            "epoch_ms(max(greatest(from_time, last_commit_time))) AS at, sum(num_commits)::INT AS number, "
            "max(num_commits)::INT AS most "
            f"FROM offset_history WHERE group_id = {quoted(group)} AND from_time IS NOT NULL GROUP BY 1, 2"
        )
        assert last == {(row["topic"], row["partition"]): (row["at"], row["number"]) for row in rows}, group
        num_repeating += sum(row["most"] > 1 for row in rows)
    assert num_repeating > 5


def test_a_partition_of_which_one_offset_is_committed_again_while_messages_wait_is_stuck(
    document: dict[str, Any], ask: Ask
) -> None:
    """Of all groups only one, by the commits themselves and the lag then."""
    shown = [
        (group, part["topic"][place], part["partition"][place], row["from"], row["to"], row["lag"])
        for group in document["details"]
        for detail in [detail_of(document, group)]
        for part in [detail.get("partitions", {})]
        for row in rows_of(detail.get("stuck", {"partition": []}))
        for place in [row["partition"]]
    ]
    rows = ask("""
        SELECT c.group_id, c.topic, c.partition, epoch_ms(min(commit_time)) AS first,
          epoch_ms(max(commit_time)) AS last, max(lag) AS lag
        FROM offset_commits AS c
        JOIN (
          SELECT group_id, topic, partition, committed_offset, min(snapshot_time) AS first_time, max(lag) AS lag
          FROM lag_points WHERE lag > 0 GROUP BY ALL
        ) AS p USING (group_id, topic, partition, committed_offset)
        WHERE NOT is_tombstone
        GROUP BY c.group_id, c.topic, c.partition, c.committed_offset
        HAVING count(*) FILTER (WHERE commit_time >= first_time) >= 10
    """)
    assert [(*row[:3], row[4], row[5]) for row in shown] == [
        (row["group_id"], row["topic"], row["partition"], row["last"], row["lag"]) for row in rows
    ]
    # It begins when the oldest waiting message came, by an estimate, and never before the first of these commits.
    assert all(each[3] - row["first"] in range(2_000) for each, row in zip(shown, rows, strict=True))
    assert [each[:3] for each in shown] == [("ledger", "payments", 2)]


def test_each_partition_has_its_last_known_lag_or_says_why_not(document: dict[str, Any], ask: Ask) -> None:
    num_known = num_measured = 0
    for group in document["details"]:
        detail = detail_of(document, group)
        rows = ask(
            "SELECT coalesce(topic, topic_id, '?') AS topic, partition, last(lag ORDER BY snapshot_time) AS lag, "
            "epoch_ms(max(snapshot_time)) AS at, count(lag) AS number "
            f"FROM lag_points WHERE group_id = {quoted(group)} GROUP BY 1, 2"
        )
        known, shown = {(row["topic"], row["partition"]): row for row in rows}, rows_of(detail.get("partitions", {}))
        for place, part in enumerate(shown):
            row = known.get((part["topic"], part["partition"]), {"lag": None, "at": None, "number": 0})
            assert (part["lag"], part["lag_at"]) == (row["lag"], row["at"]), (group, part)
            assert (part["lag"] is None) == (part["unknown_reason"] is not None), (group, part)
            # In a short history each has its lane too.
            assert detail.get("partition_lag", {"partition": []})["partition"].count(place) == row["number"]
            num_measured += row["number"] > 0
        num_known += sum(part["lag"] is not None for part in shown)
    assert num_known > 50 and num_measured > 50


def test_every_group_that_left_something_is_listed_also_one_that_is_gone(document: dict[str, Any], ask: Ask) -> None:
    rows = ask("""
        SELECT group_id, (
            SELECT count(*)::INT FROM rebalances WHERE rebalances.group_id = every.group_id
          ) AS number, (
            SELECT last(coalesce(ended_by, 'lasts') ORDER BY from_record_offset)
            FROM group_state_intervals AS s WHERE s.group_id = every.group_id
          ) AS last
        FROM (
          SELECT group_id FROM group_state_intervals
          UNION SELECT group_id FROM rebalances UNION SELECT group_id FROM offset_history
        ) AS every
    """)
    listed = {row["id"]: row for row in rows_of(document["groups"])}
    assert {*listed} == {row["group_id"] for row in rows} == {*document["details"]}
    assert {name: row["rebalances"] for name, row in listed.items()} == {row["group_id"]: row["number"] for row in rows}
    (tile,) = (each for each in document["tiles"] if each["name"] == "rebalances")
    assert tile["value"] == [{"n": sum(row["number"] for row in rows)}]
    gone = {row["group_id"] for row in rows if row["last"] == "deleted"}
    assert gone == {name for name, row in listed.items() if row["state"] == "deleted"} and len(gone) > 2
    (there,) = (each for each in document["tiles"] if each["name"] == "groups")
    assert said(there["value"]) == f"{len(rows) - len(gone)}, {len(gone)} gone"
    assert all(listed[name]["type"] in {"classic", "consumer", "streams", "share"} for name in gone)
    judged = {row["group_id"]: row["own_verdict"] for row in ask(
        "SELECT group_id, own_verdict FROM group_verdicts WHERE partition IS NULL"
    )}  # fmt: skip
    without = {name for name in listed if name in gone or listed[name]["type"] == "share"}
    assert all(listed[name]["verdict"] == judged.get(name, "no verdict") for name in without)
    assert "no verdict" in {listed[name]["verdict"] for name in without}


def test_everything_that_happened_is_on_the_page(document: dict[str, Any], ask: Ask) -> None:
    for group in document["details"]:
        detail = detail_of(document, group)
        for lane, table, time, mine in (
            ("rebalances", "rebalances", "start_time", "start"), ("resets", "offset_resets", "at_time", "at"),
            ("members", "membership_intervals", "from_time", "from"), ("moves", "partition_moves", "move_time", "at"),
        ):  # fmt: skip
            (row,) = ask(
                f"SELECT list(epoch_ms({time}) ORDER BY {time}) AS times FROM {table} WHERE group_id = {quoted(group)}"
            )
            assert sorted(detail.get(lane, {mine: []})[mine]) == (row["times"] or []), (group, lane)
        kinds = detail.get("events", {"kind": []})["kind"]
        assert kinds.count("rebalance") == len(detail.get("rebalances", {"start": []})["start"])
        assert detail.get("events", {"at": []})["at"] == sorted(detail.get("events", {"at": []})["at"])


def test_a_reset_says_from_which_offsets_to_which(document: dict[str, Any], ask: Ask) -> None:
    seen = set()
    for row in ask("SELECT *, epoch_ms(at_time) AS at FROM offset_resets"):
        after = row["to_offsets"] or ["removed"] * len(row["partitions"])
        parts = [
            f"{partition}: {'none' if first is None else f'{first:,}'} → {to if isinstance(to, str) else f'{to:,}'}"
            for partition, first, to in zip(row["partitions"], row["from_offsets"], after, strict=True)
        ]
        more = f" and {len(parts) - 3} more" if parts[3:] else ""
        change = f"partition{'s' if parts[1:] else ''} {', '.join(parts[:3])}{more}"
        detail = detail_of(document, row["group_id"])
        assert change in [each["change"] for each in rows_of(detail["resets"]) if each["at"] == row["at"]]
        assert any(f"; {change}" in each["sentence"] for each in rows_of(detail["events"]) if each["at"] == row["at"])
        seen.add((bool(row["to_offsets"]), bool(parts[3:])))
    assert len(seen) > 2


def test_a_partition_without_an_offset_is_known_by_the_tombstones(document: dict[str, Any], ask: Ask) -> None:
    """Of those that a broker wrote after the last commit, the first."""
    rows = ask("""
        SELECT group_id, topic, partition, epoch_ms(min(record_time)) AS at
        FROM offset_commits AS t
        WHERE is_tombstone AND record_offset > (
            SELECT max(record_offset) FROM offset_commits AS c
            WHERE c.group_id = t.group_id AND c.topic = t.topic AND c.partition = t.partition AND NOT c.is_tombstone
          )
        GROUP BY group_id, topic, partition
    """)
    last = {}
    for group in document["details"]:
        detail = detail_of(document, group)
        for row in rows_of(detail.get("removed", {"partition": []})):
            if row["to"] is None:
                topic, number = (detail["partitions"][name][row["partition"]] for name in ("topic", "partition"))
                last[group, topic, number] = row["from"]
    assert last == {(row["group_id"], row["topic"], row["partition"]): row["at"] for row in rows} and len(last) > 5


def test_the_stop_is_an_event_and_begins_with_the_last_commit(document: dict[str, Any], ask: Ask) -> None:
    detail = detail_of(document, "ledger")
    (row,) = ask(
        "SELECT partition, epoch_ms(last_commit_time) AS at, lag FROM group_verdicts "
        "WHERE group_id = 'ledger' AND rule = 'silent'"
    )
    place = detail["partitions"]["partition"].index(row["partition"])
    assert (detail["silence"]["partition"], detail["silence"]["from"]) == ([place], [row["at"]])
    (event,) = [each for each in rows_of(detail["events"]) if each["kind"] == "silence"]
    assert event["at"] == row["at"] and event["sentence"].endswith(
        f"payments-{row['partition']}; {row['lag']} messages wait"
    )
    # The group that is down has one for all of its partitions.
    away = detail_of(document, "modern-static")
    assert away["silence"]["partition"][0] == -1
    assert document["map"]["states"]["modern-static"].endswith("D" * 20)


def test_a_lane_without_rows_is_left_out(document: dict[str, Any]) -> None:
    detail = detail_of(document, "shared")
    assert "members" in detail and not {"commits", "partition_lag"} & {*detail}

"""The sample's log of a real broker, folded: what its admin client answered at each moment stands in the history."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable

from schemas.tables.history import TABLES
from tests.builders.groups.named_rows import named
from tests.runs.ingested import ingest
from tests.sample.story import ROOT, checked_in, epoch_ms
from udfs.groups.fold import Fold
from udfs.groups.history.rows import RowsByTable, arrow_rows
from udfs.groups.readers.classic_records import classic_records
from udfs.groups.readers.modern_records import READERS_OF_TABLES, modern_records
from udfs.groups.states.group import Context
from udfs.topics.partition_codes import TopicCodes

History = dict[str, list[dict[str, Any]]]
MODERN = ("Consumer", "Share", "Streams")
# How old an answer may be when it is noted.
ANSWER_MS = 50


@pytest.fixture(scope="module")
def decoded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pa.Table]:
    warehouse: Path = tmp_path_factory.mktemp("sample") / "warehouse"
    ingest(warehouse, "--source", f"segments:{ROOT / 'data' / 'sample'}")
    names = (*READERS_OF_TABLES, "classic_group_metadata")
    return {name: DeltaTable(warehouse / name).to_pyarrow_table() for name in names}


def folded(decoded: dict[str, pa.Table], *, in_pieces: bool = False) -> History:
    """With pieces: in a run for each operation of the partition."""
    result: History = {table.name: [] for table in TABLES}
    for partition in range(8):
        topics = TopicCodes(checked_in().topic_names)
        tables = {
            name: table.filter(pc.equal(table["offsets_partition"], partition)) for name, table in decoded.items()
        }
        records = modern_records(tables, topics)
        records += classic_records(tables["classic_group_metadata"], topics)
        records.sort(key=lambda each: each[1].offset)
        context, open_rows = Context(topics), {}
        states: dict[str, str] = {}
        batches = sorted({record.batch for _, record in records}) if in_pieces else []
        for first, last in zip([-1, *batches], [*batches, 1 << 40], strict=True):
            piece = [each for each in records if first <= each[1].batch < last]
            fold, rows = Fold(context, states), RowsByTable()
            fold.take(piece)
            states |= fold.finish(rows)
            # A newer run replaces what was open of the groups that it met.
            of_others = {each: kept for each, kept in open_rows.items() if each not in fold.groups}
            open_rows = of_others | {group: of_group(rows, group) for group in fold.groups}
        for table in TABLES:
            for row in (context.rows, *open_rows.values()):
                of_table = arrow_rows(table, row.of[table.name], topics, "a", partition)
                result[table.name] += of_table.to_pylist()
    return result


def of_group(rows: RowsByTable, group_id: str) -> RowsByTable:
    result = RowsByTable()
    for name, of_table in rows.of.items():
        result.of[name] = [row for row in of_table if named(row).get("group_id", group_id) == group_id]
    return result


@pytest.fixture(scope="module")
def history(decoded: dict[str, pa.Table]) -> History:
    return folded(decoded)


def observations() -> Iterator[tuple[str, dict[str, Any]]]:
    for event in checked_in().events:
        for seen in event.fields.get("observations", ()):
            if seen.get("group_type") in MODERN:
                yield event.group, seen


def at(rows: list[dict[str, Any]], group: str, time_ms: int) -> list[dict[str, Any]]:
    return [
        row
        for row in rows
        if row["group_id"] == group
        and row["from_time"].timestamp() * 1000 <= time_ms
        and (row["to_time"] is None or time_ms < row["to_time"].timestamp() * 1000)
    ]


def instants(seen: dict[str, Any]) -> list[int]:
    """When the broker may have answered: it reports what is committed, and the client notes the time of the answer."""
    time = epoch_ms(seen["time"])
    return [time, time - ANSWER_MS // 2, time - ANSWER_MS]


def test_state_and_epoch_are_those_that_the_broker_reported(history: History) -> None:
    reported = list(observations())
    assert len(reported) > 20
    names = ("group_type", "state", "generation_or_epoch", "num_members")
    for group, seen in reported:
        result = [
            [tuple(row[name] for name in names) for row in at(history["group_state_intervals"], group, time)]
            for time in instants(seen)
        ]
        expected = (seen["group_type"].lower(), seen["state"], seen["group_epoch"], len(seen["members"]))
        assert [expected] in result, seen


def test_members_are_those_that_the_broker_reported(history: History) -> None:
    names = ("member_id", "client_id", "client_host", "group_instance_id")
    for group, seen in observations():
        result = [
            {(*(row[name] for name in names), is_away(row, time))
             for row in at(history["membership_intervals"], group, time)}
            for time in instants(seen)
        ]  # fmt: skip
        expected = {(*map(member.get, names), member["member_epoch"] == -2) for member in seen["members"]}
        assert expected in result, seen


def is_away(row: dict[str, Any], time_ms: int) -> bool:
    since = row["away_since_time"]
    return since is not None and since.timestamp() * 1000 <= time_ms


def test_owners_are_those_that_the_broker_reported(history: History) -> None:
    for group, seen in observations():
        is_streams = seen["group_type"] == "Streams"
        result = [
            owned(at(history["ownership_intervals"], group, time), is_streams=is_streams) for time in instants(seen)
        ]
        expected = {
            (member["member_id"], *where, partition)
            for member in seen["members"]
            for where, numbers in (tasks(member) if is_streams else partitions(member))
            for partition in numbers
        }
        assert expected in result, seen


def owned(rows: list[dict[str, Any]], *, is_streams: bool) -> set[tuple[Any, ...]]:
    """Each subtopology of the sample reads one topic."""
    where = ("role", "subtopology_id") if is_streams else ("topic",)
    return {(row["member_id"], *(row[name] for name in where), row["partition"]) for row in rows}


def tasks(member: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], list[int]]]:
    for role in ("active", "standby"):
        for subtopology, numbers in member[f"{role}_tasks"].items():
            yield (role, subtopology), numbers


def partitions(member: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], list[int]]]:
    for topic, numbers in member["partitions"].items():
        yield (topic,), numbers


def test_every_target_epoch_that_the_broker_reported_is_a_rebalance(history: History) -> None:
    result = {(group, seen["target_epoch"]) for group, seen in observations() if seen["target_epoch"] > 1}
    rows = {(row["group_id"], row["to_generation"]) for row in history["rebalances"]}
    assert result <= rows


def test_a_real_brokers_log_has_no_findings(history: History) -> None:
    assert history["replay_anomalies"] == []


def test_runs_operation_by_operation_make_the_rows_of_one_run(decoded: dict[str, pa.Table], history: History) -> None:
    result = folded(decoded, in_pieces=True)
    for table in TABLES:
        assert sorted(map(repr, result[table.name])) == sorted(map(repr, history[table.name])), table.name

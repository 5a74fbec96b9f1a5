"""Which ids are those of tools: the same by the gate's patterns and in v_inventory."""

from pathlib import Path

from jobs.configuration.settings import Settings
from jobs.gating.findings import Choice
from jobs.queries.engines.duckdb_engine import DuckDBEngine
from tests.make.tables import make

OF_TOOLS = {
    "console-consumer-123": True,
    "console-consumer-": False,
    "console-consumer-12x": False,
    "my-console-consumer-1": False,
    "perf-consumer-40": True,
    "kminion-end-to-end-7f": True,
    "burrow-": True,
    "burro": False,
    "_confluent-ksql-x": True,
    "xconfluent-ksql-x": False,
    "KafkaManagerOffsetCache": True,
    "KMOffsetCache-host": True,
    "billing": False,
    "": False,
}


def test_the_gate_and_the_inventory_know_the_same_groups(tmp_path: Path) -> None:
    choice = Choice(tool_groups=Settings().gate.tool_groups)
    assert {group: choice.is_left_out(group) for group in OF_TOOLS} == OF_TOOLS
    make(tmp_path, {"group_state_intervals": [{"group_id": group, "to_record_offset": None} for group in OF_TOOLS]})
    statement = "SELECT group_id, is_tool FROM v_inventory"
    with DuckDBEngine(str(tmp_path)).scope([statement]) as answer:
        assert dict(answer(statement).rows) == OF_TOOLS

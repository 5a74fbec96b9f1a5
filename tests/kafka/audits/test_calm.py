"""Of a cluster on which every group does as it should, an audit finds nothing: at its end, and at each time before."""

import json
import shutil
from pathlib import Path

import pytest

from jobs import cli
from schemas.words.exit_codes import ExitCode
from tests.kafka.calm import CALM_RELEASES, PROTOCOLS, Calm, calm_of
from tests.runs.ingested import rows
from tests.runs.replayed_logs import result_of

# Of both releases one, the same for all tests.
pytestmark = [pytest.mark.broker, pytest.mark.drawn(1)]

# The capture may be days old.
SETTINGS = "[gate]\nmax_source_age_hours = 0\n"
# Lag of any age is judged, where else a minute of it is none.
STRICT = "[verdicts]\nleast_time_lag_s = 0\n"
COMMITTING = {"eager", "cooperative", "seldom", "idle", "manual", "transactional", "streams-classic"}
Audited = tuple[Calm, Path, set[str]]


@pytest.fixture(scope="module", params=CALM_RELEASES)
def audited(request, tmp_path_factory):
    calm = calm_of(CALM_RELEASES[request.param])
    warehouse = tmp_path_factory.mktemp("calm") / "w"
    config = warehouse.with_name("groupscope.toml")
    config.write_text(SETTINGS)
    source = ("--source", f"segments:{calm.log_dir}", "--snapshots", str(calm.snapshots))
    words = ["audit", "--warehouse", str(warehouse), "--config", str(config), "--fail-on", "warning"]
    assert cli.main([*words, *source]) == ExitCode.CLEAN
    groups = COMMITTING | {"consumer", "streams"} & set(PROTOCOLS[request.param].split(","))
    return calm, warehouse, {f"calm-{group}" for group in groups}


def test_there_are_no_findings(audited):
    _, warehouse, groups = audited
    assert {row["severity"] for row in rows(warehouse, "findings")} <= {"info"}
    for table in ("offset_resets", "odd_commits", "replay_anomalies", "rejected_records"):
        assert not (warehouse / table).exists() or rows(warehouse, table) == [], table
    verdicts = rows(warehouse, "group_verdicts")
    assert {row["group_id"] for row in verdicts} == groups
    assert {(row["burrow_verdict"], row["own_verdict"]) for row in verdicts} == {("OK", "OK")}
    assert {row["verdict"] for row in rows(warehouse, "gate_runs")} == {"passed"}


def test_lag_of_every_group_is_known_and_falls_again_and_again(audited):
    _, warehouse, groups = audited
    points = [row for row in rows(warehouse, "lag_points") if row["committed_offset"] is not None]
    assert {row["unknown_reason"] for row in points} == {None}
    assert {row["group_id"] for row in points} == groups
    assert max(row["lag_raw"] for row in points) > 50
    assert all(row["time_lag_ms"] is None or row["time_lag_ms"] < 30_000 for row in points)


def test_nobody_is_accused_at_any_time_even_of_the_youngest_lag(audited, tmp_path):
    calm, before, groups = audited
    warehouse = shutil.copytree(before, tmp_path / "w")
    (tmp_path / "strict.toml").write_text(STRICT)
    times = [json.loads(line)["captured_at"] for line in calm.snapshots.read_text(encoding="utf-8").splitlines()]
    for at in times[1:]:
        result_of("lag", warehouse, "--as-of", str(at), "--config", str(tmp_path / "strict.toml"))
    judged = [row for row in rows(warehouse, "group_verdicts") if row["partition"] is not None]
    assert len({row["as_of_time"] for row in judged}) >= len(times) - 1
    assert {row["group_id"] for row in judged if row["rule"] != "caught_up"} >= groups - {"calm-idle"}
    accused = [row for row in judged if row["own_verdict"] in ("STOP", "STALL", "REWIND")]
    assert accused == []

"""What is written for Prometheus, as its own client reads it."""

from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from jobs.output.failure import Failure
from jobs.pages.prometheus_file import write_prometheus_file
from schemas.words.exit_codes import ExitCode
from schemas.words.gate import ExportedMetric

HOSTILE = 'a"b\\c\nd{}é 💥'


def group(group_id: str, own: str, lag: int | None, time_lag_ms: int | None = None) -> dict[str, Any]:
    lags = {"lag": lag, "time_lag_ms": time_lag_ms}
    return {"group_id": group_id, "own_verdict": own, "burrow_verdict": "ERR", **lags}


def finding(kind: str, severity: str, waived: object = None, *, is_new: bool | None = False) -> dict[str, Any]:
    return {"kind": kind, "severity": severity, "waived_until_time": waived, "is_new": is_new}


TIMES = {"started_time": "1970-01-01T00:16:40.000Z", "finished_time": "1970-01-01T00:16:42.500Z"}
AUDITED = (
    {"cluster": HOSTILE, "exit_code": 20, **TIMES},
    [
        finding("partition_stopped", "critical"),
        finding("partition_stopped", "critical", is_new=True),
        finding("partition_stopped", "critical", is_new=None),
        finding("offsets_reset", "warning"),
        finding("offsets_reset", "warning", waived="2026-12-01"),
    ],
    [
        group("fine", "OK", 10**15, 5_500),
        group("unknown", "UNKNOWN", None),
        group(HOSTILE, "STOP", 7, 1_500),
        group("behind", "WARN", 3),
        group("further behind", "WARN", 4),
    ],
    940_000,
)


def written(path: Path, audited: Any = AUDITED, most: int = 1_000) -> dict[str, dict[tuple[str, ...], float]]:
    """By metric: values of the labels but the cluster, in the order of their names, and the number."""
    write_prometheus_file(path, *audited, most)
    result = {}
    for family in text_string_to_metric_families(path.read_text(encoding="utf-8")):
        assert family.type == "gauge"
        assert family.documentation
        assert {sample.labels.pop("cluster") for sample in family.samples} <= {audited[0]["cluster"]}
        values = [
            (tuple(sample.labels[name] for name in sorted(sample.labels)), sample.value) for sample in family.samples
        ]
        assert len(dict(values)) == len(values)
        result[family.name] = dict(values)
    return result


def test_prometheus_reads_what_the_audit_saw(tmp_path: Path) -> None:
    result = written(tmp_path / "groupscope.prom")
    assert list(result) == [*ExportedMetric]
    assert result["groupscope_run_exit_code"] == {(): 20}
    assert result["groupscope_run_seconds"] == {(): 2.5}
    assert result["groupscope_run_finished_timestamp_seconds"] == {(): 1_002.5}
    assert result["groupscope_source_age_seconds"] == {(): 60}
    assert result["groupscope_findings"] == {
        ("false", "partition_stopped", "critical"): 2,
        ("true", "partition_stopped", "critical"): 1,
        ("false", "offsets_reset", "warning"): 1,
    }
    assert result["groupscope_findings_waived"] == {(): 1}
    assert result["groupscope_group_lag_messages"] == {
        (HOSTILE,): 7, ("behind",): 3, ("further behind",): 4, ("fine",): 10**15,
    }  # fmt: skip
    assert result["groupscope_group_lag_seconds"] == {(HOSTILE,): 1.5, ("fine",): 5.5}
    assert result["groupscope_group_verdict"][HOSTILE, "STOP"] == 1
    assert len(result["groupscope_group_verdict"]) == len(result["groupscope_group_burrow_verdict"]) == 5
    assert result["groupscope_groups_left_out"] == {(): 0}


def test_the_worst_groups_are_written_and_the_others_counted(tmp_path: Path) -> None:
    result = written(tmp_path / "groupscope.prom", most=3)
    assert [labels[0] for labels in result["groupscope_group_verdict"]] == [HOSTILE, "further behind", "behind"]
    assert result["groupscope_groups_left_out"] == {(): 2}
    assert written(tmp_path / "groupscope.prom", most=0)["groupscope_groups_left_out"] == {(): 5}


def test_what_is_not_known_has_no_sample(tmp_path: Path) -> None:
    result = written(tmp_path / "groupscope.prom", ({"cluster": "c", "exit_code": 0, **TIMES}, [], [], None))
    assert result["groupscope_source_age_seconds"] == result["groupscope_findings"] == {}
    assert result["groupscope_run_exit_code"] == {(): 0}


def test_a_file_that_cannot_be_written_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    for name, place, reason in (
        ("file/groupscope.prom", "file", "File exists"),
        ("folder", "folder", "Is a directory"),
    ):
        with pytest.raises(Failure) as failed:
            write_prometheus_file(tmp_path / name, *AUDITED, 1_000)
        assert str(failed.value) == f"--prometheus {tmp_path / place}: {reason}; give a file that can be written"
    assert failed.value.code == ExitCode.FINDINGS

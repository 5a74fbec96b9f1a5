"""How many workers a machine has room for."""

import pytest

from jobs.processes import processors


@pytest.mark.parametrize(
    ("line", "expected"), [("150000 100000\n", 1.5), ("max 100000\n", None), ("", None), ("400000 100000", 4.0)]
)
def test_a_control_group_may_leave_less_time(line, expected):
    assert processors.quota(line) == expected


def test_workers_are_as_few_as_memory_holds(tmp_path, monkeypatch):
    monkeypatch.setattr(processors, "CONTROL_GROUP", tmp_path)
    monkeypatch.setattr(processors, "MEMORY", tmp_path / "meminfo")
    monkeypatch.setattr(processors, "cores", lambda: 8)
    assert processors.default_workers() == 8
    (tmp_path / "meminfo").write_text(f"MemTotal: 99999999 kB\nMemAvailable:  {3 * 900 * 1024 + 1} kB\n")
    assert processors.default_workers() == 3
    (tmp_path / "memory.max").write_text(f"{5 * 900 << 20}\n")
    (tmp_path / "memory.current").write_text(f"{3 * 900 << 20}\n")
    assert processors.default_workers() == 2
    (tmp_path / "memory.max").write_text("max\n")
    assert processors.default_workers() == 3
    (tmp_path / "meminfo").write_text("MemAvailable: 1 kB\n")
    assert processors.default_workers() == 1


def test_processors_are_those_of_the_control_group(tmp_path, monkeypatch):
    monkeypatch.setattr(processors, "CONTROL_GROUP", tmp_path)
    monkeypatch.setattr(processors.os, "sched_getaffinity", lambda process: set(range(6)))
    assert processors.cores() == 6
    (tmp_path / "cpu.max").write_text("250000 100000\n")
    assert processors.cores() == 2
    (tmp_path / "cpu.max").write_text("50000 100000\n")
    assert processors.cores() == 1
    (tmp_path / "cpu.max").write_text("900000 100000\n")
    assert processors.cores() == 6

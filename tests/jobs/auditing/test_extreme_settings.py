"""Numbers in settings at both ends of what is accepted: audits with them go through, on logs of any time."""

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs import cli
from jobs.configuration.settings import Settings, heading, load_settings
from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.by_hand import commit, generation, write_log, write_snapshot
from tests.make.log import T0

RANGE = re.compile(r"a whole number from ([0-9_]+) to ([0-9_]+)")
# By section and key: the smallest and the largest number.
Bounds = tuple[str, str, int, int]


def all_bounds() -> Iterator[Bounds]:
    for section in dataclasses.fields(Settings):
        for key in dataclasses.fields(section.metadata.get("each", section.type)):
            if found := RANGE.fullmatch(key.metadata["check"].expected):
                yield heading(section), key.name, int(found[1]), int(found[2])


BOUNDS = list(all_bounds())


def text_of(end: int) -> str:
    """All settings that are numbers, each at its smallest (0) or largest (1) one."""
    sections = {name: "" for name, *_ in BOUNDS}
    for section, key, *ends in BOUNDS:
        sections[section] += f"{key} = {ends[end]}\n"
    sections["[[groups]]"] += 'pattern = ".*"\n'
    return "".join(f"{name}\n{lines}" for name, lines in sections.items())


# The first and the last second of records' times, and one between them.
FIRST, LAST = (-62_135_596_800_000 - T0) // 1000 + 1, (253_402_300_799_000 - T0) // 1000


@pytest.mark.parametrize("seconds", [10, FIRST, LAST - 30], ids=["now", "first", "last"])
@pytest.mark.parametrize("end", [0, 1], ids=["smallest", "largest"])
def test_an_audit_goes_through_with_all_settings_at_an_end(end: int, seconds: int, tmp_path: Path) -> None:
    settings = tmp_path / "own.toml"
    settings.write_text(text_of(end))
    events = [generation("g", 1, seconds, {"m": [0, 1]}), *(commit("g", "t", 0, seconds + each) for each in range(9))]
    source = write_log(tmp_path / "log", {0: events})
    words = ["audit", "--config", str(settings), "--source", source, "--warehouse", str(tmp_path / "w"), "--report",
             str(tmp_path / "r"), "--prometheus", str(tmp_path / "m")]  # fmt: skip
    # No snapshot is older than Kafka.
    if seconds != FIRST:
        words += ["--snapshots", str(write_snapshot(tmp_path / "s.jsonl", seconds + 20, {"t": 2}))]
    assert cli.main(words) in (ExitCode.CLEAN, ExitCode.FINDINGS)


@pytest.mark.parametrize(("section", "key", "least", "most"), BOUNDS)
def test_a_number_beyond_its_end_is_refused_in_one_line(
    section: str, key: str, least: int, most: int, tmp_path: Path
) -> None:
    for value in (least - 1, most + 1, 10**40):
        settings = tmp_path / "own.toml"
        settings.write_text(f"{section}\n{key} = {value}\n")
        with pytest.raises(Failure) as failure:
            load_settings(settings)
        assert failure.value.code == ExitCode.USAGE
        assert str(failure.value).endswith(f"{key} = {value}; give a whole number from {least:_} to {most:_}")


@pytest.mark.parametrize(
    "line",
    [
        "dead_group_days = 9999999", "max_source_age_hours = 99999999", "hanging_transaction_ms = 9223372036854775807",
        "record_limit_bytes = 9223372036854775807",
    ],
)  # fmt: skip
def test_a_command_names_the_number_that_is_too_large(
    line: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    settings = tmp_path / "own.toml"
    settings.write_text(f"[gate]\n{line}\n")
    assert cli.main(["gate", "--config", str(settings), "--warehouse", str(tmp_path / "w")]) == ExitCode.USAGE
    errors = capfd.readouterr().err
    assert errors.startswith(f"groupscope: {settings}: [gate] {line}; give a whole number from ")
    assert errors.count("\n") == 1

"""A week of runs of the gate every ten minutes over 200 groups, with 100 events that stay findings: how many bytes the
files of `findings` have that the newest version names, and how many lie on the disk before `maintain`.

    python -m benchmarks.week_of_findings FOLDER [--days N] [--runs-a-day N] [--groups N] [--events N]

Prints a line a day. The tables that the gate reads are made by hand, and the clock of the runs is simulated; all else
is `groupscope gate` itself. In the end the limit of 5 MB is checked.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

from jobs import cli
from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.delta_tables import files_of
from jobs.warehouses.open_warehouse import reading
from schemas.words.exit_codes import ExitCode
from tests.make.tables import NOW, NOW_MS, make

MOST_BYTES = 5_000_000
DAY_S = 86_400


def write_tables(root: Path, groups: int, events: int, days: int) -> None:
    """The events come one after the other, over the whole time."""
    end = NOW + timedelta(days=days)
    resets = [
        {"group_id": f"group-{number % groups}", "topic": f"topic-{number % 7}", "kind": "shift",
         "at_time": NOW + timedelta(seconds=days * DAY_S * number // events), "num_partitions": 6,
         "partitions": list(range(6)), "messages_reread": 1_000 + number, "messages_skipped": 0,
         "evidence_partition": number % 50, "evidence_first_offset": number * 1_000,
         "evidence_last_offset": number * 1_000 + 5, "confidence": "likely", "actor": "admin_likely"}
        for number in range(events)
    ]  # fmt: skip
    states = [
        {"group_id": f"group-{number}", "group_type": "classic", "state": "Stable", "from_record_offset": number}
        for number in range(groups)
    ]
    make(root, {
        "history_coverage": [{"last_offset": 9, "num_records": 10, "from_time": NOW, "to_time": end}],
        "topic_snapshots": [{"topic": "t", "captured_time": NOW}],
        "offset_resets": resets,
        "group_state_intervals": states,
    }, run_id="{:08}-by-hand")  # fmt: skip


def gate(root: Path, settings: Path, as_of_ms: int) -> None:
    clock = SimpleNamespace(time_ns=lambda: as_of_ms * 1_000_000)
    words = ["gate", "--warehouse", str(root), "--as-of", str(as_of_ms), "--config", str(settings), "--quiet"]
    with patch("jobs.runs.result.time", clock):
        code = cli.main([*words, "--fail-on", "never", "--engine", "local"])
    if code != ExitCode.CLEAN:
        raise SystemExit(f"gate ended with exit code {code}")


def bytes_of_findings(root: Path) -> dict[str, int]:
    """Of the newest version, and of all files on the disk."""
    delta = reading(LocalPlace(root)).open("findings")
    assert delta is not None
    named = files_of(delta)
    sizes = [path.stat().st_size for path in (root / "findings").glob("*.parquet")]
    return {
        "rows": sum(named.column("num_records").to_pylist()),
        "named_files": named.num_rows,
        "named_bytes": sum(named.column("size_bytes").to_pylist()),
        "files_on_disk": len(sizes),
        "bytes_on_disk": sum(sizes),
    }


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.week_of_findings")
    parser.add_argument("folder", type=Path)
    for name, default in (("days", 7), ("runs-a-day", 144), ("groups", 200), ("events", 100)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args(words)
    given.folder.mkdir(parents=True)
    root, settings = given.folder / "w", given.folder / "own.toml"
    settings.write_text("[gate]\nmax_source_age_hours = 0\n")
    write_tables(root, given.groups, given.events, given.days)
    found: dict[str, int] = {}
    # Runs print too.
    with os.fdopen(os.dup(1), "w") as ours:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        for day in range(given.days):
            begun = time.process_time()
            for number in range(1, given.runs_a_day + 1):
                gate(root, settings, NOW_MS + 1000 * (day * DAY_S + number * DAY_S // given.runs_a_day))
            seconds = round((time.process_time() - begun) / given.runs_a_day, 3)
            found = bytes_of_findings(root)
            ours.write(json.dumps({"day": day + 1, "seconds_a_run": seconds, **found}) + "\n")
            ours.flush()
    return int(found["named_bytes"] > MOST_BYTES)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

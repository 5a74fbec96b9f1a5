"""What each command prints on the sample, whole. `python -m tests.terminals.golden_output` writes the files anew:
read what has changed before you commit it."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.runs.progress_lines import beside_progress

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).with_name("golden")
INPUT = "--source segments:sample --snapshots sample/snapshots.jsonl"
RUN = "--cluster sample --config sample.toml"
AT = "2026-11-21T17:36:40"
# Of the terminal.
COLUMNS = "80"

Done = subprocess.CompletedProcess[str]
Run = Callable[[Sequence[str], Path], Done]

# In this order: one command finds what those before it left.
COMMANDS = {
    "help": "--help",
    "help-why": "help why",
    "help-audit": "audit --help",
    "audit": f"audit {INPUT} {RUN} --warehouse audited --quiet",
    "audit-again": f"audit {INPUT} {RUN} --warehouse audited --quiet --fail-on never",
    "ingest": f"ingest {INPUT} {RUN} --quiet",
    "replay": f"replay {RUN} --quiet",
    "assignments": f"assignments {RUN} --quiet",
    "lag": f"lag {RUN} --quiet",
    "gate": f"gate {RUN} --group ^classic-s --quiet",
    "gate-span": "gate --group ledger --span payments:3:0:10:10 --result passed.json",
    "report": "report --quiet",
    "doctor": "doctor",
    "status": "status --warehouse audited",
    "status-group": "status ledger --warehouse audited",
    "status-wrong-group": "status ledgr --warehouse audited",
    "groups": "groups",
    "groups-csv": "groups --state Empty --type share --format csv",
    "describe": f"describe classic-killed --at {AT}",
    "describe-members": f"describe classic-killed --members --verbose --at {AT}",
    "describe-state": "describe modern-uniform --state --at 2026-11-21T17:37:15",
    "rebalances": "rebalances classic-storm",
    "why-killed": "why classic-killed --at 2026-11-21T17:36:38",
    "why-cooperative": "why classic-cooperative-sticky --at 2026-11-21T17:36:53",
    "why-consumer": "why modern-uniform --at 2026-11-21T17:37:19",
    "why-static": "why modern-static --at 2026-11-21T17:38:40",
    "why-failover": "why classic-killed",
    "owner": f"owner clicks 2 --at {AT}",
    "partition": "partition classic-killed",
    "diff": f"diff classic-killed --from {AT} --to 2026-11-21T17:36:50",
    "offsets": f"offsets classic-killed --at {AT}",
    "whatif": "whatif classic-killed",
    "whatif-assignor": "whatif classic-killed --assignor roundrobin --add-members 1",
    "sql": "sql queries.sql",
    "sql-json": "sql --format json queries.sql",
    "dump": "dump --type GroupMetadata --group ^classic-killed$ sample/__consumer_offsets-0/00000000000000000000.log",
    "dump-table": "dump --type GroupMetadata --format table sample/__consumer_offsets-0/00000000000000000000.log",
    "assign": "assign specs.jsonl",
    "assign-table": "assign specs.jsonl --format table",
    "wrong-command": "whyy classic-killed",
    "wrong-flag": "why classic-killed --form json",
    "wrong-group": "why classic-kiled",
    "wrong-topic": "owner click 2",
    "wrong-time": "groups --at noon",
    "wrong-source": "capture --source broker-1:9092",
}
# Of these a second run prints something else.
WRITING = frozenset({"audit", "audit-again", "ingest", "replay", "assignments", "lag", "gate", "gate-span", "report"})
FILES = {
    "passed.json": '{"success": true, "results": [{"success": true, "expectation_config": {"type": "e"}}]}',
    "queries.sql": "SELECT group_id, trigger, num_moved FROM v_rebalances "
    "WHERE group_id = 'classic-killed' ORDER BY trigger;",
    "specs.jsonl": '{"id": 1, "group_protocol": "classic", "assignor": "range", "topics": [{"name": "orders", '
    '"partitions": 3}], "members": [{"member_id": "a", "subscribed_topics": ["orders"]}, {"member_id": "b", '
    '"subscribed_topics": ["orders"]}]}\n',
}
# What differs between two runs: names of runs, times of now, and how long something took.
CHANGING = {
    r"\b\d{8}-\d{8}T\d{6}Z": "RUN",
    r"(?m)(^run .*; )\d+\.\d s": r"\1SECONDS s",
    r"[\d,]+ records/s": "NUMBER records/s",
    r"(?m)^(Took +)[\d.]+ s": r"\1SECONDS s",
    r"(, and the report )[\d.]+ s": r"\1SECONDS s",
    r"\d+\.\d MB": "SIZE MB",
    r"(?m)^(Audit +ended ).* ago": r"\1TIME ago",
    r"(, as of \S+Z, ).* ago": r"\1TIME ago",
}


def prepared(folder: Path) -> None:
    (folder / "sample").symlink_to(ROOT / "data" / "sample")
    (folder / "sample.toml").symlink_to(ROOT / "conf" / "sample.toml")
    for name, text in FILES.items():
        (folder / name).write_text(text)


def outputs(folder: Path, run: Run) -> Iterator[tuple[str, str]]:
    """Of each command, as its file has it."""
    prepared(folder)
    for name in COMMANDS:
        yield name, output(name, folder, run)


def output(name: str, folder: Path, run: Run) -> str:
    words = COMMANDS[name]
    return shown(words, run(words.split(), folder)).replace(str(folder), "FOLDER")


def spawned(words: Sequence[str], folder: Path) -> Done:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": COLUMNS}
    return subprocess.run(
        [sys.executable, "-m", "jobs.cli", *words],
        capture_output=True, text=True, cwd=folder, env=environment, timeout=600, check=False,
    )  # fmt: skip


def shown(words: str, done: Done) -> str:
    errors = "".join(f"{line}\n" for line in beside_progress(done.stderr))
    said = f"--- standard error\n{errors}" if errors else ""
    text = f"$ groupscope {words}\n{done.stdout}{said}--- exit code {done.returncode}\n"
    for pattern, word in CHANGING.items():
        text = re.sub(pattern, word, text)
    return text


def main() -> None:
    GOLDEN.mkdir(exist_ok=True)
    for old in GOLDEN.iterdir():
        old.unlink()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in outputs(Path(folder), spawned):
            (GOLDEN / f"{name}.txt").write_text(text)


if __name__ == "__main__":
    main()

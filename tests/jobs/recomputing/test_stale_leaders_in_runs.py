"""Leaders with old metadata through a whole audit: what is found, what `why` says, and that the same comes out in
however many runs log and snapshots are read. The generations are by Kafka's own client classes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from jobs import cli
from schemas.words.exit_codes import ExitCode
from tests.builders.groups.stale_leaders import TOPICS, commits, generations, life, snapshots, source
from tests.builders.logs.by_hand import Event
from tests.make.log import T0
from tests.runs.ingested import ingest, rows
from tests.runs.replayed_logs import ASSIGNMENTS, HISTORY, assert_same, row_texts

pytestmark = pytest.mark.broker

BOTH = {"lead": 6, "side": 2}
# Two snapshots before the first generation, some between, and many after the last.
TIMES = (0, 30, 90, 150, 600, 1_140)
Result = tuple[list[dict[str, Any]], list[dict[str, Any]]]


def left_out() -> list[Event]:
    """All six partitions are owned in generation 1. In generation 2 the leader does not know the topic."""
    of = life("range", [BOTH, {"side": 2}], ["lead", "side"])
    return [*generations(of), *commits("g", BOTH, 61, 115), *commits("g", {"side": 2}, 121, 1_141, 120.0)]


def never_given() -> list[Event]:
    return [*generations(life("range", [{}], ["lead"])), *commits("g", {"side": 2}, 61, 1_141, 120.0)]


def beyond() -> list[Event]:
    return [*generations(life("range", [{"k": 3}], ["k"])), *commits("g", {"k": 2}, 61, 1_141, 120.0)]


def audit(folder: Path, events: Sequence[Event], times: Sequence[float] = TIMES) -> Path:
    warehouse, whole = folder / "w", folder / "snapshots.jsonl"
    whole.write_text("".join(path.read_text() for path in snapshots(folder / "s", TOPICS, times)))
    words = ["audit", "--warehouse", warehouse, "--source", source(folder / "log", events), "--snapshots", whole]
    more = ["--cluster", "c", "--report", folder / "report", "--quiet"]
    assert cli.main([*map(str, [*words, *more])]) == ExitCode.FINDINGS
    return warehouse


def of_group(warehouse: Path) -> Result:
    audited = sorted(rows(warehouse, "assignment_audit"), key=lambda row: int(row["assignment_offset"]))
    kinds = ("stale_assignment", "partitions_unowned", "nobody_reads", "assignment_drift", "expectation_failed")
    found = [row for row in rows(warehouse, "findings") if row["kind"] in kinds and row["group_id"] in ("g", None)]
    return audited, [row for row in found if "commit_volume" not in row["message"]]


def printed(capfd: pytest.CaptureFixture[str], *words: str | Path) -> str:
    capfd.readouterr()
    assert cli.main([*map(str, words)]) == ExitCode.CLEAN
    return capfd.readouterr().out


def test_a_topic_that_was_left_out_is_unread_until_now(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    warehouse = audit(tmp_path, left_out())
    audited, (found,) = of_group(warehouse)
    assert [(row["verdict"], row["num_unowned"]) for row in audited] == [("same", 0), ("stale_input", 6)]
    assert {each["name"]: each["is_ok"] for each in audited[1]["checks"]}["complete"] is False
    # Each partition has nine, of which five were read.
    assert (found["severity"], found["kind"], found["topic"]) == ("critical", "stale_assignment", "lead")
    assert found["topic_partitions"][0]["partitions"] == [*range(6)] and found["messages_waiting"] == 6 * 4
    assert found["since_time"].timestamp() == T0 / 1000 + 120
    assert found["message"].startswith("the leader assigned nothing of lead, which has 6 partitions, since ")
    assert found["message"].endswith("; the leader is m-1 (app, 10.0.0.1)")
    told = printed(capfd, "why", "g", "--warehouse", warehouse)
    (story,) = [line for line in told.splitlines() if line.startswith("Story")]
    assert "the leader assigned nothing of lead, which has 6 partitions; 0 of 2 partitions moved" in story
    assert "; 6 partitions have had no owner since " in story and "deleted" not in told
    listed = printed(capfd, "rebalances", "g", "--warehouse", warehouse)
    assert "goes on" in listed.splitlines()[-1]
    (page,) = (tmp_path / "report").glob("index.html")
    assert "the leader assigned nothing of lead, which has 6 partitions" in page.read_text()


def test_a_topic_that_was_never_given_is_found_and_has_its_rows(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    warehouse = audit(tmp_path, never_given())
    (row,), (found,) = of_group(warehouse)
    assert (row["verdict"], row["num_unowned"], row["stale_topics"]) == ("stale_input", 6, ["lead"])
    # Nothing was written since.
    assert (found["severity"], found["kind"], found["messages_waiting"]) == ("warning", "stale_assignment", 0)
    asked = "SELECT group_id, num_partitions, num_committed, num_owned FROM partition_coverage WHERE topic = 'lead'"
    covered = printed(capfd, "sql", asked, "--warehouse", warehouse, "--format", "csv")
    assert covered.splitlines()[1:] == ["g,6,0,0"]


def test_a_partition_that_does_not_exist_is_found_with_its_member(tmp_path: Path) -> None:
    (row,), (found,) = of_group(audit(tmp_path, beyond()))
    assert (row["verdict"], row["num_unowned"], row["num_nonexistent"]) == ("stale_input", 0, 1)
    assert {each["name"]: each["is_ok"] for each in row["checks"]}["valid"] is False
    assert (found["severity"], found["kind"], found["topic"], found["partition"]) == (
        "warning", "stale_assignment", "k", 2,
    )  # fmt: skip
    assert "the leader assigned k-2, but k has 2 partitions: m-2 gets exceptions" in found["message"]


# -- in several runs


def look(warehouse: Path) -> None:
    for job in ("replay", "assignments"):
        assert cli.main([job, "--warehouse", str(warehouse)]) in (ExitCode.CLEAN, ExitCode.FINDINGS)


@pytest.mark.parametrize("events", [left_out, beyond])
def test_it_is_the_same_in_however_many_runs(events: Any, tmp_path: Path) -> None:
    log = ("--source", source(tmp_path / "log", events()), "--cluster", "c")
    taken = [("--snapshots", path, "--cluster", "c") for path in snapshots(tmp_path / "s", TOPICS, (0, 30, 600))]
    # Somebody else commits to a partition that the snapshots do not have.
    other = (
        "--source",
        source(tmp_path / "other", commits("h", {"k": 3}, 300, 301, 1.0), partition=4),
        "--cluster",
        "c",
    )
    one, several = tmp_path / "one", tmp_path / "several"
    verdicts = []
    for step in (log, *taken, other):
        ingest(one, *step)
        ingest(several, *step)
        look(several)
        verdicts.append(
            max(rows(several, "assignment_audit"), key=lambda row: int(row["assignment_offset"]))["verdict"]
        )
    look(one)
    assert_same(row_texts(one, (*HISTORY, *ASSIGNMENTS)), row_texts(several, (*HISTORY, *ASSIGNMENTS)), "runs")
    last = "stale_input" if events is left_out else "same_unconfirmed"
    assert verdicts == [*["same_unconfirmed"] * 3, "stale_input", last]

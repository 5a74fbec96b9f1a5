"""Leaders with old metadata through a whole audit: what is found, what `why` says, and that the same comes out in
however many runs log and snapshots are read. The generations are by Kafka's own client classes."""

from pathlib import Path
from typing import Any

import pytest

from jobs import cli
from schemas.words.exit_codes import ExitCode
from tests.builders.generated.topics import offsets_partition
from tests.builders.groups.stale_leaders import TOPICS, commits, generations, life, snapshots
from tests.builders.logs.by_hand import Event, write_log
from tests.make.log import T0
from tests.runs.ingested import ingest, rows
from tests.runs.replayed_logs import ASSIGNMENTS, HISTORY, assert_same, row_texts

pytestmark = pytest.mark.broker

Row = dict[str, Any]
BOTH = {"lead": 6, "side": 2}
# Some before the first generation, some between, and many after the last.
TIMES = (0, 30, 90, 150, 600, 1_140)
LEFT_OUT, NEVER_GIVEN, BEYOND = "g", "never-given", "beyond"
KINDS = ("stale_assignment", "partitions_unowned", "nobody_reads", "assignment_drift")


def events() -> dict[int, list[Event]]:
    """Of one group, all six partitions are owned in generation 1, and in generation 2 the leader does not know the
    topic. Of another, nothing was ever given. The third one's leader assigns a partition too many."""
    left_out = life("range", [BOTH, {"side": 2}], ["lead", "side"])
    never_given, beyond = life("range", [{}], ["lead"]), life("range", [{"k": 3}], ["k"])
    of_groups = {
        LEFT_OUT: [*generations(left_out), *commits(LEFT_OUT, BOTH, 61, 115),
                   *commits(LEFT_OUT, {"side": 2}, 121, 1_141, 120.0)],
        NEVER_GIVEN: [*generations(never_given, NEVER_GIVEN), *commits(NEVER_GIVEN, {"side": 2}, 61, 1_141, 120.0)],
        BEYOND: [*generations(beyond, BEYOND), *commits(BEYOND, {"k": 2}, 61, 1_141, 120.0)],
    }  # fmt: skip
    return {offsets_partition(group, 50): some for group, some in of_groups.items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the warehouse `w` and the report of an audit."""
    folder = tmp_path_factory.mktemp("stale")
    whole = folder / "snapshots.jsonl"
    whole.write_text("".join(path.read_text() for path in snapshots(folder / "s", TOPICS, TIMES)))
    log = write_log(folder / "log", events())
    words = ["audit", "--warehouse", folder / "w", "--source", log, "--snapshots", whole]
    more = ["--cluster", "c", "--report", folder / "report", "--quiet"]
    assert cli.main([*map(str, [*words, *more])]) == ExitCode.FINDINGS
    return folder


def of_group(folder: Path, group: str) -> tuple[list[Row], list[Row]]:
    """Its audits, and what was found."""
    audited = [row for row in rows(folder / "w", "assignment_audit") if row["group_id"] == group]
    found = [row for row in rows(folder / "w", "findings") if row["group_id"] == group and row["kind"] in KINDS]
    return sorted(audited, key=lambda row: int(row["assignment_offset"])), found


def printed(capfd: pytest.CaptureFixture[str], *words: str | Path) -> str:
    capfd.readouterr()
    assert cli.main([*map(str, words)]) == ExitCode.CLEAN
    return capfd.readouterr().out


def test_a_topic_that_was_left_out_is_unread_until_now(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    audited, (found,) = of_group(folder, LEFT_OUT)
    assert [(row["verdict"], row["num_unowned"]) for row in audited] == [("same", 0), ("stale_input", 6)]
    assert {each["name"]: each["is_ok"] for each in audited[1]["checks"]}["complete"] is False
    # Each partition has nine, of which five were read.
    assert (found["severity"], found["kind"], found["topic"]) == ("critical", "stale_assignment", "lead")
    assert found["topic_partitions"][0]["partitions"] == [*range(6)] and found["messages_waiting"] == 6 * 4
    assert found["since_time"].timestamp() == T0 / 1000 + 120
    assert found["message"].startswith("the leader assigned nothing of lead, which has 6 partitions, since ")
    assert found["message"].endswith("; the leader is m-1 (app, 10.0.0.1)")
    told = printed(capfd, "why", LEFT_OUT, "--warehouse", folder / "w")
    (story,) = [line for line in told.splitlines() if line.startswith("Story")]
    assert "the leader assigned nothing of lead, which has 6 partitions; 0 of 2 partitions moved" in story
    assert "; 6 partitions have had no owner since " in story and "deleted" not in told
    assert "goes on" in printed(capfd, "rebalances", LEFT_OUT, "--warehouse", folder / "w").splitlines()[-1]
    page = (folder / "report" / "index.html").read_text()
    assert "the leader assigned nothing of lead, which has 6 partitions" in page


def test_a_topic_that_was_never_given_is_found_and_has_its_rows(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (row,), (found,) = of_group(folder, NEVER_GIVEN)
    assert (row["verdict"], row["num_unowned"], row["stale_topics"]) == ("stale_input", 6, ["lead"])
    # Nothing was written since.
    assert (found["severity"], found["kind"], found["messages_waiting"]) == ("warning", "stale_assignment", 0)
    columns = "topic, num_partitions, num_committed, num_owned"
    asked = f"SELECT {columns} FROM v_partition_coverage WHERE group_id = '{NEVER_GIVEN}' ORDER BY topic"
    covered = printed(capfd, "sql", asked, "--warehouse", folder / "w", "--format", "csv")
    assert covered.splitlines()[1:] == ["lead,6,0,0", "side,2,2,0"]


def test_a_partition_that_does_not_exist_is_found_with_its_member(folder: Path) -> None:
    (row,), (found,) = of_group(folder, BEYOND)
    assert (row["verdict"], row["num_unowned"], row["num_nonexistent"]) == ("stale_input", 0, 1)
    assert {each["name"]: each["is_ok"] for each in row["checks"]}["valid"] is False
    assert (found["severity"], found["topic"], found["partition"]) == ("warning", "k", 2)
    assert "the leader assigned k-2, but k has 2 partitions: m-2 gets exceptions" in found["message"]
    assert not [row for row in rows(folder / "w", "findings") if "rows_failing_nonexistent" in row["message"]]


# -- in several runs


def newest(warehouse: Path) -> dict[str, str]:
    """The verdict on each group's last assignment."""
    audited = sorted(rows(warehouse, "assignment_audit"), key=lambda row: int(row["assignment_offset"]))
    return {row["group_id"]: row["verdict"] for row in audited}


def look(warehouse: Path) -> None:
    for job in ("replay", "assignments"):
        assert cli.main([job, "--warehouse", str(warehouse)]) in (ExitCode.CLEAN, ExitCode.FINDINGS)


def test_it_is_the_same_in_however_many_runs(tmp_path: Path) -> None:
    log = ("--source", write_log(tmp_path / "log", events()), "--cluster", "c")
    taken = [("--snapshots", path, "--cluster", "c") for path in snapshots(tmp_path / "s", TOPICS, (0, 600))]
    # Somebody else commits to a partition that the snapshots do not have.
    other = ("--source", write_log(tmp_path / "other", {4: commits("h", {"k": 3}, 300, 301, 1.0)}), "--cluster", "c")
    one, several = tmp_path / "one", tmp_path / "several"
    verdicts = []
    for step in (log, *taken, other):
        ingest(one, *step)
        ingest(several, *step)
        look(several)
        verdicts.append(newest(several))
    look(one)
    assert_same(row_texts(one, (*HISTORY, *ASSIGNMENTS)), row_texts(several, (*HISTORY, *ASSIGNMENTS)), "runs")
    unknown = dict.fromkeys((LEFT_OUT, NEVER_GIVEN, BEYOND), "same_unconfirmed")
    stale = dict.fromkeys((LEFT_OUT, NEVER_GIVEN, BEYOND), "stale_input")
    assert verdicts == [unknown, unknown, stale, {**stale, BEYOND: "same_unconfirmed"}]

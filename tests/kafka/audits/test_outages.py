"""Outages that real brokers logged, audited: unread times are what the readers themselves measured, no assignment of
Kafka's own clients is accused, and an altered one is."""

import json
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest

from schemas.words.assignments import Verdict
from tests.builders.warehouses.replayed_segments import command
from tests.kafka.audits.rewritten import Given, exchange_in_classic, exchange_in_targets
from tests.kafka.outage_truth import diary
from tests.kafka.outages import OUTAGE_RELEASES, Outages, outages_of
from tests.runs.ingested import rows

pytestmark = [pytest.mark.broker, pytest.mark.drawn_parameter("release", 2)]

Row = dict[str, Any]
NUM_STALE: Final = 4
# No record has it: survivors hear of a rebalance with their next heartbeat, and of its result with their next poll.
UNLOGGED_MS: Final = 1_000
COMMITS_EVERY_MS: Final = 500
# Of the release's own assignor, which its records confirm.
DEFECTS: Final = {"3.9.1-new": {"KAFKA-18688"}}
# What the audit is given beside the log: snapshots in every form, of the end or from before topics changed.
INPUTS: Final = ("none", "json", "offsets", "topics", "stale-json", "stale-offsets", "stale-topics")


@dataclass(frozen=True)
class Case:
    outages: Outages
    warehouse: Path
    # Tables that were asked for: most are, again and again.
    read: dict[str, list[Row]] = field(default_factory=dict)

    def rows(self, table):
        if table not in self.read:
            self.read[table] = rows(self.warehouse, table)
        return self.read[table]


Audits = Callable[[str, str], Case]


@pytest.fixture(scope="module")
def audits(tmp_path_factory):
    """By release and input, each made once."""
    made = {}

    def of(release, given):
        if (release, given) not in made:
            outages = outages_of(OUTAGE_RELEASES[release])
            folder = tmp_path_factory.mktemp("outages")
            audit(folder / "w", outages.log_dir, *arguments(outages, given, folder))
            made[release, given] = Case(outages, folder / "w")
        return made[release, given]

    return of


def audit(warehouse, log_dir, *more):
    command(warehouse, "ingest", "--source", f"segments:{log_dir}", *more)
    command(warehouse, "replay")
    command(warehouse, "assignments")


def arguments(outages, given, folder):
    lines = outages.snapshots.read_text(encoding="utf-8").splitlines(keepends=True)
    stale = lines[:NUM_STALE]
    if given == "none":
        return []
    if given.endswith("json"):
        path = folder / "snapshots.jsonl"
        path.write_text("".join(stale if given.startswith("stale") else lines))
        return ["--snapshots", str(path)]
    newest = (stale if given.startswith("stale") else lines)[-1]
    return ["--snapshots", str(outages.text(given)), "--captured-at", str(json.loads(newest)["captured_at"])]


@pytest.fixture(params=OUTAGE_RELEASES)
def release(request):
    return str(request.param)


# -- the capture itself


def test_each_member_left_its_partitions_unread_for_as_long_as_its_fate_says(release):
    """About its session timeout when it was killed or stayed away, else less."""
    outages = outages_of(OUTAGE_RELEASES[release])
    events = {event["event"]: event for event in outages.truth["events"]}
    assert list(events) == ["killed", "closed", "topic_grown", "topic_deleted", "returned"]
    for event in ("killed", "closed", "returned"):
        assert events[event]["members"]
        for member in events[event]["members"]:
            gaps = [gap for gap in member["gaps"] if gap["from_client"] == member["client"]]
            assert gaps, member
            longest = max(gap["to_ms"] - gap["from_ms"] for gap in gaps)
            waits = event == "killed" or (event == "closed" and member["is_static"])
            # On a busy machine a member takes seconds to come back.
            limit = member["session_timeout_ms"] / (1 if event == "returned" else 2)
            assert (longest > limit) == waits, (member["group"], longest)


# -- unread time


def moves_of(case, gap):
    """Rows of the partition that the gap is about, from its begin until its next owner had its answer."""
    first, last = gap["from_ms"] - UNLOGGED_MS, gap["to_ms"] + UNLOGGED_MS
    return [
        row
        for row in case.rows("partition_moves")
        if (row["group_id"], row["partition"]) == (gap["group"], gap["partition"])
        and row["topic"] == gap["topic"]
        and first <= row["move_time"].timestamp() * 1000 <= last
    ]


def unread_bounds(case, gap):
    result = [row for row in moves_of(case, gap) if row["unread_high_ms"] is not None]
    assert result, f"no move has an unread time: {gap}"
    return sum(row["unread_low_ms"] for row in result), sum(row["unread_high_ms"] for row in result)


def lost_gaps(case, event, is_quiet=False, is_share=False):
    """Members with each partition that they had when they stopped."""
    members = next(each["members"] for each in case.outages.truth["events"] if each["event"] == event)
    return [
        (member, gap)
        for member in members
        if (member["protocol"] == "share") == is_share
        for gap in member["gaps"]
        if gap["from_client"] == member["client"] and (gap["topic"] == "quiet") == is_quiet
    ]


def longest_stall_ms(case, gap):
    """For how long the next owner, which polls ten times a second, did not get to it: the machine was busy."""
    times = [
        ms
        for ms in times_of(case.outages.folder / "diary.txt")[gap["to_client"]]
        if gap["from_ms"] <= ms <= gap["to_ms"]
    ]
    return max((after - before for before, after in pairwise(times)), default=0)


@cache
def times_of(path):
    """Of each client, when it wrote a line."""
    result = defaultdict(list)
    for line in diary(path):
        result[line.client].append(line.ms)
    return result


def problem_of(case, member, gap, most_ms):
    """Bounds hold the truth, and are no wider than what could not be known."""
    low, high = unread_bounds(case, gap)
    read_ms = gap["first_read_ms"] - gap["last_read_ms"]
    held_ms = gap["to_ms"] - gap["from_ms"]
    unlogged_ms = UNLOGGED_MS + longest_stall_ms(case, gap)
    is_right = 0 <= low <= read_ms and high >= held_ms - unlogged_ms and high - low <= most_ms
    # A member that timed out was not there for nearly all of its timeout.
    is_long = low > 0 or held_ms < member["session_timeout_ms"] / 2
    return None if is_right and is_long else f"{low} to {high} ms, unread for {held_ms} to {read_ms} ms: {gap}"


def test_partitions_of_killed_members_were_unread_for_as_long_as_the_tables_say(release, audits):
    case = audits(release, "json")
    pairs = lost_gaps(case, "killed")
    result = [problem_of(case, member, gap, member["session_timeout_ms"]) for member, gap in pairs]
    assert [problem for problem in result if problem] == []
    assert len(pairs) >= 4


def test_partitions_of_closed_members_were_unread_for_as_long_as_the_tables_say(release, audits):
    """A dynamic member leaves by that; a static one is waited for, until its session ends."""
    case = audits(release, "json")
    pairs = lost_gaps(case, "closed")
    result = []
    for member, gap in pairs:
        waited_ms = member["session_timeout_ms"] if member["is_static"] else 0
        result.append(problem_of(case, member, gap, waited_ms + COMMITS_EVERY_MS + UNLOGGED_MS))
    assert [problem for problem in result if problem] == []
    assert len(pairs) >= 7


def test_of_a_share_group_that_has_members_nobody_knows_who_reads(release, audits):
    """Others of them may read what a killed one had."""
    case = audits(release, "json")
    moves = [row for _, gap in lost_gaps(case, "killed", is_share=True) for row in moves_of(case, gap)]
    assert {row["unread_high_ms"] for row in moves} <= {None}


def test_a_topic_without_traffic_is_no_outage(release, audits):
    case = audits(release, "json")
    pairs = lost_gaps(case, "killed", is_quiet=True)
    assert {unread_bounds(case, gap) for _, gap in pairs} == {(0, 0)}


# -- accusations


@pytest.mark.drawn(6)
@pytest.mark.parametrize("given", INPUTS)
def test_no_assignment_of_kafkas_own_clients_is_accused(release, given, audits):
    case = audits(release, given)
    audited = case.rows("assignment_audit")
    assert [row for row in audited if row["verdict"] == Verdict.DRIFT] == []
    assert {row["known_defect"] for row in audited} <= {None, *DEFECTS.get(release, ())}
    # Without snapshots with ids nothing confirms how many partitions a topic had: that acquits nobody either.
    verdicts = Counter(row["verdict"] for row in audited)
    assert verdicts[Verdict.SAME] + verdicts[Verdict.SAME_UNCONFIRMED] > 0


@pytest.mark.drawn(6)
@pytest.mark.parametrize("given", INPUTS)
def test_each_topic_is_there_once(release, given, audits):
    case = audits(release, given)
    lines = case.outages.snapshots.read_text(encoding="utf-8").splitlines()
    names = {topic["topic_id"]: topic["topic"] for line in lines for topic in json.loads(line)["topics"]}
    result = defaultdict(list)
    for row in case.rows("topics"):
        result[row["topic"] or names[row["topic_id"]]].append(row)
    assert {name: rows for name, rows in result.items() if len(rows) > 1} == {}
    assert {"orders", "growing", "fading"} <= result.keys()
    wrong = [
        row for row in case.rows("topics") if row["topic_id"] and row["topic"] not in (None, names[row["topic_id"]])
    ]
    assert wrong == []


# -- an assignment that was altered


def last_with_two(case, group):
    """Of a group whose one member left later: what comes after it does not rest on who had what."""
    owners = defaultdict(list)
    for row in case.rows("generation_members"):
        if row["group_id"] == group and row["assigned"]:
            owners[row["assignment_offset"]].append(row)
    newest = max(offset for offset, members in owners.items() if len(members) == 2)
    return next(
        row for row in case.rows("assignment_audit") if (row["group_id"], row["assignment_offset"]) == (group, newest)
    )


def given_in(case, row):
    result = [
        Given(member["member_id"], member["assigned"][0]["partitions"])
        for member in case.rows("generation_members")
        if (member["group_id"], member["assignment_offset"]) == (row["group_id"], row["assignment_offset"])
    ]
    assert len(result) == 2
    return result


def altered(case, group, folder):
    """A copy of the log, and the offset of the assignment in which two members changed places."""
    row = last_with_two(case, group)
    assert row["verdict"] == Verdict.SAME
    shutil.copytree(case.outages.log_dir, folder)
    (segment,) = folder.glob(f"__consumer_offsets-{row['evidence_partition']}/*.log")
    one, other = given_in(case, row)
    if row["group_type"] == "classic":
        exchange_in_classic(segment, row["assignment_offset"], one, other)
    else:
        exchange_in_targets(segment, row["assignment_offset"], group, one, other)
    return folder, row["assignment_offset"]


GROUPS: Final = ("left-range", "left-consumer")


@pytest.mark.parametrize("group", GROUPS)
def test_an_altered_assignment_is_detected(release, group, audits, tmp_path):
    case = audits(release, "json")
    if group not in {row["group_id"] for row in case.rows("assignment_audit")}:
        assert release == "3.9.1-old"
        return
    log_dir, offset = altered(case, group, tmp_path / "log")
    audit(tmp_path / "w", log_dir, *arguments(case.outages, "json", tmp_path))

    def verdicts(warehouse):
        audited = rows(warehouse, "assignment_audit")
        return {(row["group_id"], row["assignment_offset"]): row["verdict"] for row in audited}

    expected = verdicts(case.warehouse) | {(group, offset): Verdict.DRIFT}
    assert verdicts(tmp_path / "w") == expected

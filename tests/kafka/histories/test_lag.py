"""At each instant at which kafka-consumer-groups was asked, `lag_points` has its rows: offset, end, lag, member.

The tool asks for offsets and ends a group at a time. The capture lets nobody write to topics from a snapshot before the
question to one after it, so ends are those of both. Members go on committing: where a partition's offset or owner
changed once between the snapshots, each value is one of those before and after; where it changed more often, or so
shortly before that the broker may have answered without it, nothing is compared. While a classic group joins, of which
no record shows, the tool may name no member or the one before: then members are not compared."""

import json
from collections import defaultdict
from dataclasses import dataclass, replace

import pytest

from tests.builders.warehouses.replayed_segments import command, replay
from tests.kafka.histories.group_tool import printed_rows
from tests.kafka.observations import observations_of
from tests.kafka.releases import RELEASES
from tests.oracles.history.agreement import SHOWN, SHOWN_BY_3_9, SLACK_US
from tests.oracles.history.at_instant import holds, read

pytestmark = pytest.mark.broker

# Group, topic, partition.
Subject = tuple[str, str, int]


@dataclass(frozen=True)
class Shown:
    """A row of the tool; None: it prints a hyphen, or no row at all."""

    committed: int | None = None
    end: int | None = None
    lag: int | None = None
    member: str | None = None


NOTHING = Shown()
AT_REST = ("Stable", "Empty")
# Each group is looked at every 200 ms, and a look takes a while.
LOOKED_WITHIN_US = 1_000_000


@dataclass(frozen=True)
class Answer:
    """About one partition of a group; `changes`: how often it changed between the snapshots before and after."""

    subject: Subject
    changes: int
    theirs: Shown
    before: Shown
    after: Shown


@pytest.fixture(scope="module", params=RELEASES)
def answers(request, tmp_path_factory):
    observations = observations_of(RELEASES[request.param])
    warehouse = tmp_path_factory.mktemp("lag") / "warehouse"
    replayed = replay(warehouse, observations.log_dir, "--snapshots", str(observations.snapshots))
    command(warehouse, "lag")
    return list(answers_of(observations, TableAnswers.of(replayed, warehouse, observations)))


@dataclass(frozen=True)
class TableAnswers:
    """What the tables say: rows at each snapshot, and when something about a partition changed."""

    points: dict[int, dict[Subject, Shown]]
    bounds: dict[Subject, set[int]]

    @classmethod
    def of(cls, replayed, warehouse, observations):
        owners = defaultdict(list)
        bounds = defaultdict(set)
        for table in ("offset_history", "ownership_intervals"):
            for row in replayed.tables[table]:
                subject = (row["group_id"], row["topic"], row["partition"])
                bounds[subject] |= {row[name] for name in ("from_time", "to_time") if row[name] is not None}
                if table == "ownership_intervals":
                    owners[subject].append(row)
        points = defaultdict(dict)
        for row in read(warehouse, "lag_points"):
            subject = (row["group_id"], row["topic"], row["partition"])
            # The tool knows of no group of streams, and lists no partition without offset and owner.
            if row["group_type"] != "streams":
                shown = Shown(row["committed_offset"], row["log_end_offset"], row["lag_raw"], row["owner_member_id"])
                phases = SHOWN if observations.release.is_modern and row["group_type"] == "consumer" else SHOWN_BY_3_9
                shown = as_printed(shown, owners[subject], row["snapshot_time"], phases)
                if (shown.committed, shown.member) != (None, None):
                    points[row["snapshot_time"]][subject] = shown
        return cls(points, bounds)


def as_printed(shown, owners, at, phases):
    """Who still reads what it is to give up owns it for us; for the tool only in consumer groups of newer brokers."""
    gives_up = any(row["member_id"] == shown.member and row["phase"] not in phases for row in owners if holds(row, at))
    return replace(shown, member=None) if gives_up else shown


def answers_of(observations, expected):
    lines = observations.snapshots.read_text(encoding="utf-8").splitlines()
    times = [json.loads(line)["captured_at"] * 1000 for line in lines]
    questions = observations.of_kind("lag")
    assert len(times) == 2 * len(questions)
    for number, line in enumerate(questions):
        if "Error: " in line["text"]:
            # A group was deleted between the list of groups and its description: then the tool prints none.
            continue
        before, after = times[2 * number : 2 * number + 2]
        rows = [printed(line["text"]), expected.points[before], expected.points[after]]
        for group in joining(observations, before, after):
            rows = [without_members(each, group) for each in rows]
        for subject in set().union(*rows):
            bounds = [at for at in expected.bounds[subject] if before - SLACK_US < at <= after]
            changes = len(bounds) if not bounds or min(bounds) > before else 2
            yield Answer(subject, changes, *(each.get(subject, NOTHING) for each in rows))


def joining(observations, before, after):
    """Classic groups that some answer of the admin client about that time shows in another state than at rest."""
    return {
        look["group"]
        for look in observations.of_kind("look")
        if look["asked_ms"] * 1000 <= after + LOOKED_WITHIN_US
        and look["answered_ms"] * 1000 >= before - LOOKED_WITHIN_US
        and look.get("group_type") == "classic"
        and look["state"] not in AT_REST
    }


def without_members(rows, group):
    bare = {subject: replace(shown, member=None) if subject[0] == group else shown for subject, shown in rows.items()}
    return {subject: shown for subject, shown in bare.items() if subject[0] != group or shown.committed is not None}


def printed(text):
    return {
        (row["GROUP"], row["TOPIC"], int(row["PARTITION"])): Shown(
            *(None if row[name] == "-" else int(row[name]) for name in ("CURRENT-OFFSET", "LOG-END-OFFSET", "LAG")),
            None if row["CONSUMER-ID"] == "-" else row["CONSUMER-ID"],
        )
        for row in printed_rows(text)
        # A member without partitions has a row of its own.
        if row["TOPIC"] != "-"
    }


def test_where_nothing_changed_the_rows_are_equal(answers):
    still = [each for each in answers if not each.changes]
    assert [each for each in still if each.before != each.theirs or each.after != each.theirs] == []
    # A machine under load leaves few questions between which nothing changed: 25 were seen, of 80 or so.
    assert len(still) > 15
    assert sum((each.theirs.lag or 0) > 0 for each in still) > 5
    assert sum(each.theirs.member is not None for each in still) > 5
    assert sum(each.theirs.committed is not None and each.theirs.member is None for each in still) > 2


def test_where_something_changed_once_each_value_is_of_before_or_after(answers):
    changed = [each for each in answers if each.changes == 1]
    wrong = [
        each
        for each in changed
        for name in ("committed", "end", "member")
        if getattr(each.theirs, name) not in {getattr(each.before, name), getattr(each.after, name)}
    ]
    assert wrong == []
    assert len(changed) > 20

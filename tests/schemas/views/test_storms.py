"""Which rebalances in a row are a storm: groups are played, member by member, and the view says what it takes them
for."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import duckdb
import pytest

from jobs.configuration.settings import Gate, number_settings
from schemas.tables import TABLES
from schemas.views import VIEWS
from tests.make.tables import NOW, filled

VIEW = VIEWS["v_rebalance_storms"]
Row = dict[str, Any]


@dataclass(frozen=True)
class Member:
    member_id: str
    client_id: str | None
    client_host: str | None = "/h"
    group_instance_id: str | None = None


@dataclass
class Group:
    """Each change of its members is a rebalance, so many seconds after the one before."""

    gap: float = 5
    group_type: str = "classic"
    group_id: str = "g"
    partition: int = 0
    start: datetime = NOW
    time: datetime | None = NOW
    assignor: str = "range"
    members: list[Member] = field(default_factory=list)
    rebalances: list[Row] = field(default_factory=list)
    generations: list[Row] = field(default_factory=list)
    seen: dict[str, Member] = field(default_factory=dict)
    ids: Any = field(default_factory=count)

    def member(self, client: str | None, host: str | None = "/h", instance: str | None = None) -> Member:
        return Member(f"{client}-{next(self.ids)}", client, host, instance)

    def joins(self, *members: Member) -> None:
        self.rebalance(come=members)

    def leaves(self, *members: Member) -> None:
        self.rebalance(go=members)

    def is_restarted(self, member: Member, client: str = "app") -> None:
        """A static member comes back with another member id, at once."""
        new = self.member(client, member.client_host, member.group_instance_id)
        self.rebalance(come=[new], go=[member], word="restarted")

    def rebalance(self, come: Any = (), go: Any = (), word: str = "joined", **more: Any) -> None:
        offset = len(self.rebalances)
        at = {"group_id": self.group_id, "assignment_offset": offset, "evidence_partition": self.partition}
        self.time = self.start + timedelta(seconds=offset * self.gap)
        self.rebalances.append(
            {
                **at, "group_type": self.group_type, "start_time": self.time, "end_time": self.time,
                "trigger": "member_joined" if come else "member_left", "from_generation": offset,
                "to_generation": offset + 1, "assignor_before": self.assignor, "assignor_after": self.assignor, **more,
            }
        )  # fmt: skip
        words = [*((each, word) for each in come), *((each, "left") for each in go if word == "joined")]
        words += [(each, "kept") for each in self.members if each not in go]
        self.members = [each for each in self.members if each not in go] + list(come)
        for each, change in words:
            who = {"member_id": each.member_id, "group_instance_id": each.group_instance_id}
            self.generations.append({**at, **who, "group_type": self.group_type, "change": change})
            self.seen[each.member_id] = each

    def tables(self) -> dict[str, list[Row]]:
        stays = [{"group_id": self.group_id, "evidence_partition": self.partition, **vars(each)}
                 for each in self.seen.values()]  # fmt: skip
        return {
            "rebalances": self.rebalances,
            "generation_members": self.generations,
            "membership_intervals": stays,
        }


def quiet(number: int, **settings: Any) -> Group:
    """A group that has had these members for long. Each is a client of its own."""
    group = Group(**settings)
    group.members = [group.member(f"c{number}") for number in range(number)]
    group.seen = {each.member_id: each for each in group.members}
    return group


def static(number: int, **settings: Any) -> Group:
    group = Group(**settings)
    group.members = [group.member("app", "/h", f"i{number}") for number in range(number)]
    return group


def of_one_client(number: int, **settings: Any) -> Group:
    group = Group(**settings)
    group.members = [group.member("app", "/nat") for _ in range(number)]
    group.seen = {each.member_id: each for each in group.members}
    return group


def deploy(group: Group, rounds: int = 1, pods: int | None = None) -> Group:
    """Each member is closed, and comes back in a rebalance of its own."""
    for _ in range(rounds):
        for member in list(group.members)[:pods]:
            group.leaves(member)
            group.joins(group.member(member.client_id, member.client_host, member.group_instance_id))
    return group


def deploy_at_once(group: Group, rounds: int = 1) -> Group:
    """Each member is closed and is back before the others have joined again."""
    for _ in range(rounds):
        for member in list(group.members):
            new = group.member(member.client_id, member.client_host)
            group.rebalance(come=[new], go=[member])
    return group


def deploy_of_static(group: Group, rounds: int = 1) -> Group:
    for _ in range(rounds):
        for member in list(group.members):
            group.is_restarted(member)
    return group


def deploy_with_other_addresses(group: Group) -> Group:
    """A new pod, at an address of its own, comes before the old one is closed."""
    for number, member in enumerate(list(group.members)):
        group.joins(group.member("app", f"/10.0.0.{number}"))
        group.leaves(member)
    return group


def flapping(group: Group, rounds: int, client: str | None = "flapping", host: str | None = "/f") -> Group:
    for _ in range(rounds):
        member = group.member(client, host)
        group.joins(member)
        group.leaves(member)
    return group


def flapping_static(client_ids: Iterable[str]) -> Group:
    group = static(6)
    for client_id in client_ids:
        group.is_restarted(group.members[-1], client_id)
    return group


def scaled_out(number: int) -> Group:
    group = quiet(1)
    for pod in range(number):
        group.joins(group.member("app", f"/10.0.0.{pod}"))
    return group


def upgraded(group: Group) -> Group:
    deploy(group)
    for place, member in enumerate(list(group.members)):
        group.leaves(member)
        before, group.assignor = group.assignor, "cooperative-sticky"
        group.rebalance(come=[group.member(member.client_id)], assignor_before=before if place == 0 else group.assignor)
    return group


def migrated(group: Group) -> Group:
    """To the consumer protocol, by the first member that comes back."""
    for place, member in enumerate(list(group.members)):
        group.leaves(member)
        group.group_type = "consumer"
        group.rebalance(
            come=[group.member(member.client_id)], trigger="protocol_migration" if place == 0 else "member_joined"
        )
    return group


def alike(number: int, **more: Any) -> Group:
    group = quiet(3)
    for _ in range(number):
        group.rebalance(trigger="leader_rejoined", **more)
    return group


def made_anew(rounds: int) -> Group:
    """A tool makes the group, deletes it, makes it …"""
    group = Group()
    for _ in range(rounds):
        member = group.member("tool")
        group.rebalance(come=[member], trigger="group_created")
        group.leaves(member)
    return group


def without_times(group: Group) -> Group:
    group.rebalances = [{**row, "start_time": None} for row in group.rebalances]
    return group


def with_unknown_clients(group: Group) -> Group:
    """Their records are lost."""
    group.seen = {}
    return group


def one_of_three(rounds: int) -> Group:
    group = of_one_client(3)
    group.leaves(*group.members)
    return flapping(group, rounds, "app", "/nat")


def of_batches(number: int) -> Group:
    """Each job has a client of its own, and none is ever seen again."""
    group = quiet(1)
    for job in range(number):
        member = group.member(f"job-{job}")
        group.joins(member)
        group.leaves(member)
    return group


STORM, RESTART, UPGRADE = ["storm"], ["rolling_restart"], ["rolling_upgrade"]
STORIES: dict[str, tuple[Callable[[], Group], list[str]]] = {
    "one client flaps among many that are quiet": (lambda: flapping(quiet(40), 10), STORM),
    "the only client of a group flaps": (lambda: flapping(Group(), 10), STORM),
    "a client of the consumer protocol flaps": (lambda: flapping(quiet(40, group_type="consumer"), 10), STORM),
    "a client of a share group flaps": (lambda: flapping(quiet(4, group_type="share"), 10), STORM),
    "a static member flaps": (lambda: flapping_static(["app"] * 10), STORM),
    "a static member flaps with other client ids": (lambda: flapping_static(map(str, range(10))), STORM),
    "rounds that are each one rebalance": (lambda: deploy_at_once(of_one_client(1), 10), STORM),
    "nine rebalances are too few": (lambda: deploy_at_once(of_one_client(1), 9), []),
    "ten rebalances, each just in time": (lambda: deploy_at_once(of_one_client(1, gap=300), 10), STORM),
    "ten rebalances, each a moment late": (lambda: deploy_at_once(of_one_client(1, gap=300.001), 10), []),
    "a deploy of 6": (lambda: deploy(quiet(6)), RESTART),
    "a deploy of 40": (lambda: deploy(quiet(40)), RESTART),
    "a deploy of 40 clients of the consumer protocol": (lambda: deploy(quiet(40, group_type="consumer")), RESTART),
    "a deploy in which each is back at once": (lambda: deploy_at_once(quiet(40)), RESTART),
    "a deploy of 40 static members": (lambda: deploy_of_static(static(40)), RESTART),
    "a deploy of 6 static members, and another": (lambda: deploy_of_static(static(6), 2), RESTART),
    "static members that are away for long": (lambda: deploy(static(40)), RESTART),
    "a deploy of members of one client id behind one address": (lambda: deploy(of_one_client(40)), RESTART),
    "two deploys of them": (lambda: deploy(of_one_client(6), 2), RESTART),
    "three deploys of them": (lambda: deploy(of_one_client(6), 3), STORM),
    "two deploys": (lambda: deploy(quiet(6), 2), RESTART),
    "three deploys": (lambda: deploy(quiet(6), 3), STORM),
    "of two members one came back for the third time": (lambda: deploy(of_one_client(2), 5, pods=1), STORM),
    "new clients come back twice each": (lambda: flapping(flapping(quiet(2), 3, "one"), 3, "two"), RESTART),
    "new clients come back three times each": (lambda: flapping(flapping(quiet(2), 4, "one"), 4, "two"), STORM),
    "of three members of a client one comes back five times": (lambda: one_of_three(5), RESTART),
    "of three members of a client one comes back seven times": (lambda: one_of_three(7), STORM),
    "pods with other addresses": (lambda: deploy_with_other_addresses(quiet(10)), RESTART),
    "15 members come one after the other": (lambda: scaled_out(15), RESTART),
    "jobs, each of them once": (lambda: of_batches(20), RESTART),
    "an upgrade to another assignor in two rounds": (lambda: upgraded(quiet(3)), UPGRADE),
    "an upgrade to the consumer protocol": (lambda: migrated(quiet(6)), UPGRADE),
    "a client flaps during an upgrade": (lambda: flapping(upgraded(quiet(3)), 10), STORM),
    "the group rebalances though nobody comes or goes": (lambda: alike(12), STORM),
    "rebalances that hand out what was withheld": (lambda: alike(12, is_follow_up=True), RESTART),
    "a group that is made anew is another one": (lambda: made_anew(20), []),
    "no record has a time": (lambda: without_times(flapping(quiet(4), 10)), []),
    "that a client came back is not known": (lambda: with_unknown_clients(flapping(quiet(4), 10)), RESTART),
    "nor is it if only the host is unknown": (lambda: flapping(quiet(4), 10, host=None), RESTART),
}  # fmt: skip


def told(*groups: Group, **limits: int) -> list[Row]:
    tables: dict[str, list[Row]] = {name: [] for name in VIEW.reads}
    for group in groups:
        for name, rows in group.tables().items():
            tables[name] += rows
    settings = number_settings(Gate(**limits))
    tables["gate_limits"] = [{"setting": name, "value": value} for name, value in settings]
    return view_of(tables)


def view_of(tables: dict[str, list[Row]]) -> list[Row]:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    for name, rows in tables.items():
        connection.register(name, filled(TABLES[name], rows))
    return [dict(row) for row in connection.sql(VIEW.sql).to_arrow_table().to_pylist()]


@pytest.mark.parametrize("story", STORIES)
def test_what_was_played_is_what_the_view_says(story: str) -> None:
    play, expected = STORIES[story]
    assert [row["kind"] for row in told(play())] == expected


def test_a_storm_names_its_client_and_its_begin_stays_as_it_goes_on() -> None:
    short, long = flapping(quiet(4), 6), flapping(quiet(4), 30)
    (early,), (late,) = told(short), told(long)
    assert early["from_time"] == late["from_time"] == NOW
    assert (early["num_rebalances"], late["num_rebalances"]) == (12, 60)
    assert (late["repeated_client_id"], late["repeated_client_host"], late["num_repeated"]) == ("flapping", "/f", 60)
    # A clock that goes back moves no storm that has begun.
    long.rebalances[50]["start_time"] = NOW - timedelta(days=1)
    (moved, *_) = told(long)
    assert moved["from_time"] == NOW


def test_offsets_partitions_of_one_group_are_told_apart() -> None:
    """Each has half of what would be a storm, or a storm of its own."""
    later = NOW + timedelta(hours=1)
    assert told(flapping(quiet(2), 4), flapping(quiet(2, partition=1), 4)) == []
    both = told(flapping(quiet(2), 6), flapping(quiet(2, partition=1, start=later), 6))
    assert [(row["kind"], row["evidence_partition"], row["num_repeated"]) for row in both] == [
        ("storm", 0, 12),
        ("storm", 1, 12),
    ]


def test_the_settings_of_the_newest_gate_run_decide() -> None:
    assert told(flapping(quiet(2), 5), storm_rebalances=11) == []
    assert [row["kind"] for row in told(flapping(quiet(2), 5), storm_rebalances=10)] == STORM
    assert told(flapping(quiet(2, gap=20), 5), storm_gap_s=19) == []
    assert len(told(flapping(quiet(2, gap=20), 5), storm_gap_s=20)) == 1


def test_without_a_gate_run_nothing_is_a_storm() -> None:
    tables = flapping(quiet(2), 20).tables()
    assert view_of({**{name: [] for name in VIEW.reads}, **tables}) == []


def test_storms_are_before_what_is_none() -> None:
    groups = (deploy(quiet(40, group_id="a")), flapping(quiet(4, group_id="b"), 5), upgraded(quiet(3, group_id="c")))
    assert [(row["rank"], row["group_id"], row["kind"]) for row in told(*groups)] == [
        (1, "b", "storm"),
        (2, "a", "rolling_restart"),
        (3, "c", "rolling_upgrade"),
    ]

"""`groupscope whatif` over the sample, its log taken from beginning to end."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from jobs import cli
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.by_hand import commit, generation, write_log, write_snapshot
from tests.oracles.assignors.what_ifs import Lists, expected, kafka_in_the_end
from tests.sample.story import checked_in

# With members at the end of the log, of unequal subscriptions but the last; it has an assignor of its own each.
CLASSIC = ("classic-range", "classic-roundrobin", "classic-sticky", "classic-cooperative-sticky", "classic-upgraded")
CHOICES = [("classic", "range"), ("classic", "roundrobin"), ("classic", "sticky"), ("classic", "cooperative-sticky")]
CHOICES += [("consumer", "uniform"), ("consumer", "range")]
Ask = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whatif") / "warehouse"
    sample = checked_in().folder
    source = ["--source", f"segments:{sample}", "--snapshots", str(sample / "snapshots.jsonl"), "--cluster", "sample"]
    for words in (["ingest", *source], ["replay"], ["assignments"]):
        assert cli.main([*words, "--warehouse", str(folder)]) == 0
    return folder


@pytest.fixture
def ask(warehouse: Path, capfd: pytest.CaptureFixture[str]) -> Ask:
    def asked(*words: str) -> tuple[int, str, str]:
        capfd.readouterr()
        code = cli.main(["whatif", *words, "--warehouse", str(warehouse)])
        done = capfd.readouterr()
        return code, done.out, done.err

    return asked


def rows(ask: Ask, *words: str) -> list[dict[str, Any]]:
    code, out, err = ask(*words, "--format", "json")
    assert (code, err) == (0, "")
    return [json.loads(line) for line in out.splitlines()]


def recorded(group: str) -> Lists:
    """By member, what the newest record gives it."""
    value = newest_value(group)
    return {
        member["member_id"]: sorted(
            (each["topic"], number)
            for each in member["assignment"]["assigned_partitions"]
            for number in each["partitions"]
        )
        for member in value["members"]
    }


def newest_value(group: str) -> Mapping[str, Any]:
    values = (record["value"] for record in checked_in().records(group=group, record_type=2))
    result: Mapping[str, Any] = [value for value in values if value and value["members"]][-1]
    return result


@pytest.mark.parametrize("group", CLASSIC)
def test_every_choice_stands_in_a_row_in_one_order(group: str, ask: Ask) -> None:
    result = rows(ask, group)
    assert [(row["group_protocol"], row["assignor"]) for row in result] == CHOICES
    assert all(row["is_possible"] for row in result)
    # What a group has from an assignor that is in force, that assignor would give again.
    (in_force,) = (row for row in result if row["assignor"] == newest_value(group)["protocol"] and
                   row["group_protocol"] == "classic")  # fmt: skip
    assert in_force["moves_from_current"] == 0


@pytest.mark.parametrize("choice", CHOICES, ids=" ".join)
def test_a_named_assignor_shows_which_partitions_move(choice: tuple[str, str], ask: Ask) -> None:
    for group in CLASSIC:
        had = {each: member for member, some in recorded(group).items() for each in some}
        (row,) = (row for row in rows(ask, group, "--assignor", choice[1]) if row["group_protocol"] == choice[0])
        moves = row["moves"]
        assert len(moves) == row["moves_from_current"]
        assert {(move["topic"], move["partition"]): move["from_member_ids"] for move in moves} == {
            each: [had[each]] for move in moves for each in [(move["topic"], move["partition"])]
        }
        counts = {member["member_id"]: member for member in row["members"]}
        assert set(counts) == set(recorded(group))
        for member, some in recorded(group).items():
            came = sum(move["to_member_ids"] == [member] for move in moves)
            went = sum(move["from_member_ids"] == [member] for move in moves)
            reported = counts[member]["num_partitions_now"], counts[member]["num_partitions_then"]
            assert reported == (len(some), len(some) + came - went)


@pytest.mark.broker
@pytest.mark.parametrize("choice", CHOICES, ids=" ".join)
def test_the_answer_is_what_kafkas_own_assignor_gives(choice: tuple[str, str], ask: Ask) -> None:
    protocol, assignor = choice
    snapshot = checked_in().snapshots[-1]["topics"]
    topics = [
        {"name": each["topic"], "topic_id": each["topic_id"], "partitions": len(each["partitions"])}
        | {"racks": [partition["racks"] for partition in each["partitions"]]}
        for each in snapshot
    ]
    specs = [{"group_protocol": protocol, "assignor": assignor, "topics": topics, "members": members_of(group)}
             for group in CLASSIC]  # fmt: skip
    for group, spec, lists in zip(CLASSIC, specs, kafka_in_the_end(specs, protocol, assignor), strict=True):
        assert lists is not None
        (row,) = (row for row in rows(ask, group, "--assignor", assignor) if row["group_protocol"] == protocol)
        is_eager = protocol == "classic" and assignor != "cooperative-sticky"
        reported = row["imbalance"], row["moves_from_current"], row["partitions_stopped"]
        assert reported == expected(spec, lists, is_eager)
        now = {each: member for member, some in recorded(group).items() for each in some}
        then = {each: member for member, some in lists.items() for each in some}
        assert {(move["topic"], move["partition"]): tuple(move["to_member_ids"]) for move in row["moves"]} == {
            each: (member,) for each, member in then.items() if now[each] != member
        }


def members_of(group: str) -> list[dict[str, Any]]:
    result = []
    for member in newest_value(group)["members"]:
        target = [[each["topic"], each["partitions"]] for each in member["assignment"]["assigned_partitions"]]
        reported = {
            "member_id": member["member_id"],
            "subscribed_topics": member["subscription"]["topics"],
            "target": target,
        }
        optional = {name: member["subscription"][name] for name in ("rack_id",)}
        optional["group_instance_id"] = member["group_instance_id"]
        result.append(reported | {name: value for name, value in optional.items() if value is not None})
    return result


EVEN = "members with the same topics have equally many, 0 partitions change their owner"
BEST = (
    f"range of the consumer protocol has the best balance and moves the fewest partitions: {EVEN}, "
    f"0 not read during the rebalance; range of the classic protocol (in force): {EVEN}, "
    "10 not read during the rebalance."
)


def test_a_table_shows_it_in_lines(ask: Ask) -> None:
    code, out, _ = ask("classic-range", "--assignor", "cooperative-sticky")
    assert code == 0
    labels = [line[:12].strip() for line in out.splitlines()]
    assert labels == ["Group", "Assignor", "Balance", "Partitions", "", "", "Members", "", "Evidence", "", BEST[:12]]
    assert out.endswith(f"\n\n{BEST}\n")
    assert "2 of 10 change their owner, 2 are not read during the rebalance" in out
    # One name, two assignors: the leader's and the coordinator's.
    both = ask("classic-range", "--assignor", "range")[1]
    assert both.count("Group ") == both.count("Evidence ") == 2


def test_a_share_group_is_asked_about_its_own_assignor(ask: Ask) -> None:
    """The sample's was left by all its members: nothing to ask about."""
    code, out, err = ask("shared")
    assert (code, out) == (ExitCode.USAGE, "")
    assert err == "groupscope: group shared has no assignment to compare: it is Empty\n"


def test_consumer_groups_are_asked_about(ask: Ask) -> None:
    result = rows(ask, "modern-uniform")
    assert [(row["group_type"], row["group_protocol"], row["assignor"]) for row in result] == [
        ("consumer", *choice) for choice in CHOICES
    ]
    (row,) = (row for row in result if row["assignor"] == "uniform")
    assert (row["moves_from_current"], row["imbalance"], row["partitions_stopped"]) == (0, 0, 0)


def test_a_warehouse_without_what_ifs_says_what_makes_them(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "warehouse"
    sample = checked_in().folder
    for words in (["ingest", "--source", f"segments:{sample}"], ["replay"]):
        assert cli.main([*words, "--warehouse", str(folder)]) == 0
    capfd.readouterr()
    assert cli.main(["whatif", "classic-range", "--warehouse", str(folder)]) == ExitCode.UNUSABLE_WAREHOUSE
    assert capfd.readouterr().err.endswith("has no table assignment_whatif yet; run `groupscope assignments`\n")


# -- with other members, or more partitions


MORE = ("--add-members", "2", "--partitions", "orders=9")


def test_a_group_with_other_members_and_more_partitions(ask: Ask) -> None:
    gone, *_ = recorded("classic-range")
    for row in rows(ask, "classic-range", *MORE, "--remove-member", gone, "--verbose"):
        owners = {(each["topic"], each["partition"]): each for each in row["owners"]}
        had = {each: member for member, some in recorded("classic-range").items() for each in some}
        assert {each: of["from_member_ids"] for each, of in owners.items()} == {
            each: [had[each]] if each in had else [] for each in owners
        }
        assert {each for each in owners if each[0] == "orders"} == {("orders", number) for number in range(9)}
        given = {member for of in owners.values() for member in of["to_member_ids"]}
        assert given == {"new-1", "new-2", *recorded("classic-range")} - {gone}
        assert [each for each in row["owners"] if each["from_member_ids"] != each["to_member_ids"]] == row["moves"]
        assert "assumed member ids new-1 and so on" in row["reason"]


def test_verbose_shows_the_owner_of_each_partition_before_and_after(ask: Ask) -> None:
    code, out, _ = ask("classic-range", "--assignor", "cooperative-sticky", "--verbose", "--wide")
    assert code == 0
    lines = [line.strip() for line in out.splitlines()]
    for member, some in recorded("classic-range").items():
        for topic, partition in some:
            assert any(line.startswith(f"{topic}-{partition}: {member} ") for line in lines)
    assert sum(line.endswith(" keeps it") for line in lines) == 8


@pytest.mark.drawn(8)
@pytest.mark.parametrize("words", [(), MORE, ("--add-members", "1")], ids=" ".join)
@pytest.mark.parametrize("group", [*CLASSIC, "modern-uniform", "modern-range"])
def test_assign_answers_the_question_that_is_printed_as_the_what_if_does(
    group: str, words: tuple[str, ...], ask: Ask, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, out, err = ask(group, *words, "--print-spec")
    assert (code, err) == (0, "")
    (tmp_path / "specs.jsonl").write_text(out)
    assert cli.main(["assign", str(tmp_path / "specs.jsonl")]) == 0
    asked = [json.loads(line) for line in out.splitlines()]
    answered = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    # Of several rebalances the last one counts.
    lists = {(line["group_protocol"], line["assignor"]): answer["assignment"]
             for line, answer in zip(asked, answered, strict=True)}  # fmt: skip
    result = [row for row in rows(ask, group, *words, "--verbose") if row["is_possible"]]
    assert set(lists) == {(row["group_protocol"], row["assignor"]) for row in result}
    for row in result:
        reported = {
            member: sorted((of["topic"], of["partition"]) for of in row["owners"] if member in of["to_member_ids"])
            for member in (each["member_id"] for each in row["members"])
        }
        assert reported == {
            each["member_id"]: sorted((topic, partition) for topic, partition in each["partitions"])
            for each in lists[row["group_protocol"], row["assignor"]]
        }


def test_a_member_is_named_by_as_much_of_its_id_as_screens_show(ask: Ask) -> None:
    gone, *_ = recorded("classic-range")
    answers = [rows(ask, "classic-range", "--remove-member", each) for each in (gone, gone[:-30])]
    assert answers[0] == answers[1]


def test_a_group_without_members_has_no_answer(ask: Ask) -> None:
    words = [word for member in recorded("classic-range") for word in ("--remove-member", member)]
    code, out, err = ask("classic-range", *words)
    assert (code, out) == (ExitCode.USAGE, "")
    assert err.endswith("--remove-member: names all 2 members, one or more must stay\n")
    only = [word for member in recorded("classic-killed") for word in ("--remove-member", member)]
    assert ask("classic-killed", *only)[2].endswith("--remove-member: names the only member, which must stay\n")
    # All of them are replaced.
    assert ask("classic-range", *words, "--add-members", "1")[0] == 0


# -- topics that have grown since the assignment


def grown(folder: Path, *snapshots: tuple[float, int], named: int = 1) -> list[str]:
    """Group g has the two partitions of t. Snapshots: second and partitions. Another group commits `named` later."""
    log = {0: [generation("g", 1, 50, {"a": [0], "b": [1]})], 1: [commit("other", "t", named, 900)]}
    sources = [["--source", write_log(folder / "log", log)]]
    sources += [["--snapshots", str(write_snapshot(folder / f"{second}.jsonl", second, {"t": number}, {"t": "t" * 22}))]
                for second, number in snapshots]  # fmt: skip
    for words in (*(["ingest", *source] for source in sources), ["replay"], ["assignments"]):
        assert cli.main([*words, "--warehouse", str(folder / "w")]) == 0
    return ["g", "--assignor", "range", "--warehouse", str(folder / "w")]


def printed(capfd: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    capfd.readouterr()
    assert cli.main(list(words)) == 0
    return [json.loads(line) for line in capfd.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    ("snapshots", "named", "partitions", "confidence"),
    [
        ([(10, 2), (500, 4), (900, 4)], 1, 4, "certain"),
        ([(500, 4)], 1, 4, "certain"),
        # Records name more than the newest snapshot has.
        ([(10, 2), (500, 4)], 5, 6, "likely"),
        ([(10, 2)], 3, 4, "likely"),
        # No cluster has so many.
        ([(10, 2), (500, 4)], 2**31 - 1, 4, "certain"),
    ],
)
def test_partitions_that_came_after_the_assignment_are_assigned(
    snapshots: list[tuple[float, int]], named: int, partitions: int, confidence: str, tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    words = grown(tmp_path, *snapshots, named=named)
    half, of_table = partitions // 2, "SELECT * FROM assignment_whatif WHERE assignor = 'range'"
    in_table = printed(capfd, "sql", of_table, "--format", "json", *words[3:])
    for row in printed(capfd, "whatif", *words, "--format", "json", "--verbose"):
        given = {each["partition"]: each["to_member_ids"] for each in row["owners"]}
        assert given == {number: ["a" if number < half else "b"] for number in range(partitions)}
        assert (row["moves_from_current"], row["imbalance"], row["confidence"]) == (1, 0, confidence)
        (same,) = (each for each in in_table if each["group_protocol"] == row["group_protocol"])
        assert same == {**same, **{name: row[name] for name in same if name in row}}
    for line in printed(capfd, "whatif", *words, "--print-spec"):
        assert [topic["partitions"] for topic in line["topics"]] == [partitions]


def test_a_topic_cannot_have_fewer_partitions_than_it_has_by_now(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = grown(tmp_path, (10, 2), (500, 4))
    assert cli.main(["whatif", *words, "--partitions", "t=3"]) == ExitCode.USAGE
    assert "--partitions t=3: t has 4 and Kafka takes none away; give 4 or more" in capfd.readouterr().err


def test_snapshots_that_came_after_the_what_ifs_count_too(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = grown(tmp_path, (10, 2))
    later = write_snapshot(tmp_path / "later.jsonl", 500, {"t": 4}, {"t": "t" * 22})
    assert cli.main(["ingest", "--snapshots", str(later), *words[3:]]) == 0
    assert {row["moves_from_current"] for row in printed(capfd, "whatif", *words, "--format", "json")} == {1}
    for job in ("replay", "assignments"):
        assert cli.main([job, *words[3:]]) == 0
    query = "SELECT moves_from_current AS moves FROM assignment_whatif WHERE assignor = 'range'"
    assert [row["moves"] for row in printed(capfd, "sql", query, "--format", "json", *words[3:])] == [1, 1]

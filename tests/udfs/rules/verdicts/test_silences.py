"""Silence of a group, of a member, and of a partition whose member went on: which of them partitions are said to have.

Partitions 0 and 1 belong to member m, 2 and 3 to member n, of two topics; each is committed every 5 s until it stops.
"""

from typing import Any

from tests.builders.tables.measured import in_ranges, verdict_rows
from tests.builders.tables.verdict_history import Row, committed, ends, history
from udfs.lag.doubtful_times import Doubt
from udfs.rules.verdicts.burrow_evaluation import BurrowRules
from udfs.rules.verdicts.own_verdict import OwnRules

NOW = 4000
TOPIC = {0: "t", 1: "u", 2: "t", 3: "u"}
OWNER = {0: "m", 1: "m", 2: "n", 3: "n"}
MEMBERS: list[Row] = [{"num_members": 2}]
SUBSCRIBED: list[Row] = [{"member_id": each, "subscribed_topics": ["t", "u"]} for each in "mn"]


def lives(*until: float, gap: int = 5, owner: dict[int, str] = OWNER) -> dict[str, list[Row]]:
    """Each partition is committed until then; messages come all the time, one a second, and all are read at each
    commit."""
    tables: dict[str, list[Row]] = {"commits": [], "offset_history": [], "ownership_intervals": [], "ends": []}
    for partition, last in enumerate(until):
        about = {"topic": TOPIC[partition], "partition": partition}
        begin = last - (last - 3000) // gap * gap
        times = [begin + gap * place for place in range(int((last - begin) // gap) + 1)]
        one = committed(*((time, int(time)) for time in times), first_offset=100 + 1000 * partition, **about)
        tables["commits"] += one["commits"]
        tables["offset_history"] += one["offset_history"]
        if partition in owner:
            tables["ownership_intervals"].append({**about, "member_id": owner[partition], "from_time": 100})
        tables["ends"] += ends(*((time, time) for time in range(2990, NOW + 1)), **about)
    return tables


def said(tables: dict[str, list[Row]], **changed: Any) -> list[str]:
    """The rule of each partition. Key by key, it is the same."""
    given = {"group_state_intervals": MEMBERS, "generation_members": SUBSCRIBED, **tables, **changed}
    known = history(NOW, **given)
    rows = verdict_rows(known, BurrowRules(), OwnRules())
    if tables["commits"]:
        assert verdict_rows(in_ranges(known, 1), BurrowRules(), OwnRules()).equals(rows)
    by_partition = {row["partition"]: row["rule"] for row in rows.to_pylist()}
    return [by_partition[partition] for partition in sorted(TOPIC)]


FINE = ["caught_up"] * 2


def test_of_a_group_that_died_at_one_instant_all_partitions_are_silent_with_it() -> None:
    """Those that were committed less than a minute ago too."""
    assert said(lives(3935, 3936, 3937, 3939)) == ["group_silent"] * 4


def test_until_the_last_of_them_is_silent_for_a_minute_none_is() -> None:
    assert "silent" not in " ".join(said(lives(3940, 3941, 3940, 3941)))
    # Of the member that is, they are.
    assert said(lives(3935, 3936, 3937, 3941))[:3] == ["member_silent", "member_silent", "keeps_up"]


def test_of_a_member_that_died_its_partitions_are_silent_with_it() -> None:
    assert said(lives(3930, 3935, 3998, 3999)) == ["member_silent"] * 2 + FINE
    assert said(lives(3930, 3941, 3998, 3999))[:2] != ["member_silent"] * 2


def test_a_partition_stopped_by_itself_if_its_member_went_on() -> None:
    assert said(lives(3930, 3999, 3998, 3999)) == ["silent", *["caught_up"] * 3]
    # It had stopped before its member did.
    assert said(lives(3900, 3935, 3998, 3999)) == ["member_silent"] * 2 + FINE
    assert said(lives(3900, 3945, 3998, 3999)) == ["silent", *["caught_up"] * 3]


def test_a_partition_is_not_stopped_because_its_member_committed_another_one_a_moment_later() -> None:
    assert said(lives(3935, 3945, 3998, 3999))[0] != "silent"
    assert said(lives(3933, 3945, 3998, 3999))[0] == "silent"


def test_without_owners_others_of_the_group_show_that_a_partition_stopped() -> None:
    assert said(lives(3930, 3999, 3998, 3999, owner={}))[0] == "silent"
    assert said(lives(3930, 3931, 3932, 3933, owner={})) == ["group_silent"] * 4


def test_a_quiet_topic_makes_no_group_silent() -> None:
    tables = lives(3900, 3900, 3900, 3900)
    quiet = [row | {"log_end_offset": min(row["log_end_offset"], 3900)} for row in tables["ends"]]
    assert said(tables, ends=quiet) == ["caught_up"] * 4
    # One message in one partition waits for a minute: nothing waits in the others.
    late = [
        row | {"log_end_offset": 3901} if row["captured_time"] > 3930 and row["partition"] == 2 else row
        for row in quiet
    ]
    assert said(tables, ends=late) == [*FINE, "group_silent", "caught_up"]


def test_silence_counts_from_when_messages_wait() -> None:
    tables = lives(3900, 3900, 3900, 3900)
    late = [row | {"log_end_offset": min(row["log_end_offset"], 3900) + 50 * (row["captured_time"] >= 3950)}
            for row in tables["ends"]]  # fmt: skip
    assert said(tables, ends=late) == ["caught_up"] * 4
    late = [row | {"log_end_offset": min(row["log_end_offset"], 3900) + 50 * (row["captured_time"] >= 3939)}
            for row in tables["ends"]]  # fmt: skip
    assert said(tables, ends=late) == ["group_silent"] * 4


def test_a_member_that_never_commits_is_silent_while_others_commit_and_not_alone() -> None:
    tables = lives(3998, 3999, 3998, 3999)
    for name in ("commits", "offset_history"):
        tables[name] = [row for row in tables[name] if row["partition"] in (2, 3)]
    owned = [row | {"from_time": 3900} for row in tables["ownership_intervals"]]
    assert said(tables, ownership_intervals=owned) == ["member_silent"] * 2 + FINE
    nothing = {name: [] for name in ("commits", "offset_history")}
    since = [row | {"from_time": 300} for row in tables["ownership_intervals"]]
    assert said(tables | nothing, ownership_intervals=since) == ["never_committed"] * 4


def test_what_the_new_owner_has_had_for_seconds_is_not_its_silence() -> None:
    tables = lives(3930, 3931, 3998, 3999)
    assert said(tables) == ["member_silent"] * 2 + FINE
    taken = [
        row | {"member_id": "o", "from_time": 3990, "from_record_offset": 5} if row["member_id"] == "m" else row
        for row in tables["ownership_intervals"]
    ]
    assert "member_silent" not in said(tables, ownership_intervals=taken)


def test_where_the_clock_went_back_no_group_is_silent() -> None:
    doubt = (Doubt(3_930_000_000, 3_950_000_000, 0),)
    assert "silent" not in " ".join(said(lives(3935, 3936, 3937, 3939), doubts=doubt))


def test_a_group_that_commits_rarely_may_be_silent_for_longer() -> None:
    assert said(lives(3900, 3901, 3902, 3903, gap=5)) == ["group_silent"] * 4
    assert "group_silent" not in said(lives(3900, 3901, 3902, 3903, gap=20))


def test_what_a_deleted_group_committed_is_no_silence_of_the_one_that_is_made_anew() -> None:
    tables = lives(3500, 3501, 3502, 3503)
    for row in tables["offset_history"]:
        row |= {"is_provisional": False, "to_time": 3600, "to_record_offset": 9_000, "ended_by": "deleted"}
    taken = [row | {"from_time": 3700, "from_record_offset": 9_100} for row in tables["ownership_intervals"]]
    assert "silent" not in " ".join(said(tables, ownership_intervals=taken))


def test_a_commit_that_the_broker_dates_in_the_future_hides_nothing_and_blames_nobody() -> None:
    tables = lives(3935, 3936, 3937, 3998)
    future = committed((9000, 3999), first_offset=90_000, topic="u", partition=3)
    commits = [row | {"record_time": 3999} for row in future["commits"]]
    assert said(tables, commits=[*tables["commits"], *commits])[:3] == ["member_silent"] * 2 + ["silent"]


def test_of_topics_without_end_offsets_the_lag_is_unknown_however_silent_the_group() -> None:
    tables = lives(3935, 3936, 3937, 3939)
    known = [row for row in tables["ends"] if row["topic"] == "t"]
    assert said(tables, ends=known) == ["group_silent", "no_end_offsets"] * 2
    assert said(tables, ends=[]) == ["no_end_offsets"] * 4


def test_members_without_partitions_are_not_silent() -> None:
    idle = [*SUBSCRIBED, {"member_id": "o", "subscribed_topics": ["t", "u"]}]
    tables = lives(3998, 3999, 3998, 3999)
    assert said(tables, generation_members=idle, group_state_intervals=[{"num_members": 3}]) == ["caught_up"] * 4

"""Of what was done to a real cluster an audit says what a person who knows it would want, and nothing else."""

import json

import pytest

from tests.runs.ingested import rows
from tests.stories.captures import PACKED, stories_of, unpacked
from tests.stories.judge import COUNTING, Judged, judge_all, judged, lines_of, warehouse_of
from tests.stories.plays import PLAYS
from tests.stories.stage import place_of

MOST_BYTES, MOST_BYTES_OF_ALL = 150_000, 1_000_000
# What is to be said of a group at the end, by the finding that is wanted of it.
WILL_CATCH_UP = {"falling_behind": "not_catching_up", "group_down": "not_reading", "group_silent": "not_reading"}
OF_EACH_STORY = pytest.mark.parametrize("name", PLAYS, ids=lambda name: name.replace("_", " "))


def packed(name):
    return PACKED / f"{name}.tar.xz"


def test_there_is_one_small_capture_of_each_story():
    sizes = {path.name: path.stat().st_size for path in PACKED.iterdir()}
    assert set(sizes) == {packed(name).name for name in PLAYS}
    assert max(sizes.values()) <= MOST_BYTES
    assert sum(sizes.values()) <= MOST_BYTES_OF_ALL


@OF_EACH_STORY
def test_a_capture_says_what_was_done_and_why_a_finding_is_wanted_or_none_is(name, tmp_path):
    told = unpacked(packed(name), tmp_path)
    assert told.page["story"] == name
    assert told.page["done"]
    asked = {each["group"] for each in told.page["wanted"]}
    assert sorted([*asked, *told.page["quiet"]]) == sorted(told.page["groups"])
    assert told.page["quiet"]
    for wanted in told.page["wanted"]:
        assert wanted["severity"] in COUNTING
        assert wanted["kinds"]
    for reason in (*(each["why"] for each in told.page["wanted"]), *told.page["quiet"].values()):
        assert len(reason.split()) > 3
    (place,) = {place_of(group) for group in told.page["groups"]}
    folders = {folder.name for folder in told.log_dir.iterdir()}
    assert folders <= {f"__consumer_offsets-{2 * place}", f"__consumer_offsets-{2 * place + 1}"}
    assert all(segment.stat().st_size for segment in told.log_dir.glob("*/*.log"))
    times = [json.loads(line)["captured_at"] for line in told.snapshots.read_text().splitlines()]
    assert times == sorted(times)
    assert 35 < (times[-1] - times[0]) / 1_000 < 110


@pytest.mark.broker
@pytest.mark.drawn(12)
@OF_EACH_STORY
def test_an_audit_says_what_is_wanted_and_nothing_else(name, tmp_path):
    told = unpacked(packed(name), tmp_path)
    warehouse = warehouse_of(told, tmp_path)
    result = judged(told.page["wanted"], lines_of(warehouse))
    assert result.is_right, str(result)
    # What may be silent follows from something else, which some of its partitions outlast.
    wanted = [each for each in told.page["wanted"] if not each.get("may_be_silent")]
    for row in rows(warehouse, "consumption_rates"):
        kinds = {kind for each in wanted if each["group"] == row["group_id"] for kind in each["kinds"]}
        if row["group_id"] in told.page["quiet"]:
            assert row["eta_unknown_reason"] != "not_catching_up", row
        elif row["bucket_ms"] == 3_600_000 and (reasons := {WILL_CATCH_UP[kind] for kind in kinds & {*WILL_CATCH_UP}}):
            assert {row["eta_unknown_reason"]} == reasons, row


@pytest.mark.soak
@pytest.mark.broker
def test_of_stories_that_no_rule_was_tried_on_nothing_is_missing_and_one_line_in_ten_is_not_wanted(seed):
    total = sum((each for _, each in judge_all(stories_of(seed))), Judged())
    assert not total.missing, str(total)
    assert 10 * len(total.not_wanted) <= total.named + len(total.not_wanted), str(total)

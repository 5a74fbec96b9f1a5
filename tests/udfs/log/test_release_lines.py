"""Which records show which release, and which rules follow for each leader epoch of an offsets partition."""

import pytest

from udfs.log.leader_epochs import Epoch
from udfs.log.release_lines import (
    BY_RELEASE,
    COMMIT_3,
    COMMIT_4,
    DESCRIBED,
    EARLIER,
    EARLY_SHAPE,
    HASHED_TOPICS,
    LISTED_TOPICS,
    NEW_GROUP,
    PREVIEW,
    TARGET,
    TIMED_TARGET,
    TODAY,
    VALIDATED,
    EarlyTime,
    Lines,
    LineSpan,
    Sign,
    early_time,
    line_spans,
    merged_signs,
    rules_text,
)

NO_EPOCHS: dict[int, Epoch] = {}


def terms(*begins: int) -> dict[int, Epoch]:
    """Leader epochs 0, 2, 4, … that begin with these records, at the same times."""
    return {2 * number: Epoch(begin, begin + 1, begin, begin + 1) for number, begin in enumerate(begins)}


def signs(*names: tuple[int, str]) -> list[Sign]:
    return [Sign(epoch, name, 5, 6) for epoch, name in names]


def names_of(spans: tuple[LineSpan, ...]) -> list[tuple[int, str]]:
    return [(each.first_offset, each.name) for each in spans]


CASES = {
    "nothing shows a release": ([], []),
    "the shape of 3.7": ([(0, EARLY_SHAPE), (0, TARGET), (0, COMMIT_3)], [(0, PREVIEW), (10, TODAY)]),
    "topics that 3.8 to 4.0 list": ([(0, LISTED_TOPICS)], [(0, EARLIER)]),
    "a commit that releases up to 4.0 write": ([(0, COMMIT_3)], [(0, EARLIER)]),
    "a commit that all from 4.1 on write": ([(0, COMMIT_4)], []),
    "a target without the time that 4.3 adds": ([(0, HASHED_TOPICS), (0, TARGET)], [(0, EARLIER)]),
    "a target with that time": ([(0, HASHED_TOPICS), (0, TARGET), (0, TIMED_TARGET)], []),
    "what came with 4.2 alone": ([(0, VALIDATED)], []),
    "what came with 4.4": ([(0, DESCRIBED)], []),
    "an upgrade from 4.1 to 4.3": ([(0, TARGET), (0, COMMIT_4), (2, TIMED_TARGET), (2, COMMIT_4)],
                                   [(0, EARLIER), (10, TODAY)]),
    "until its records show another one, the release stays": ([(0, TARGET), (2, COMMIT_4)], [(0, EARLIER)]),
    "and if they do, it was another one from the first of them on": (
        [(0, TARGET), (2, TIMED_TARGET)], [(0, EARLIER), (10, TODAY)]),
    "a downgrade": ([(0, TIMED_TARGET), (0, TARGET), (2, TARGET)], [(10, EARLIER)]),
    "records of one leader epoch that no release writes together": ([(0, EARLY_SHAPE), (0, COMMIT_4)], []),
    "records without leader epochs": ([(-1, LISTED_TOPICS)], [(0, EARLIER)]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_each_leader_epoch_has_the_line_that_its_records_show(name):
    given, expected = CASES[name]
    assert names_of(line_spans(terms(0, 10), signs(*given), None)) == [(at, line.name) for at, line in expected]


def test_a_setting_applies_to_all_whatever_records_show():
    assert line_spans(terms(0, 10), signs((0, LISTED_TOPICS)), None, TODAY) == ()
    assert names_of(line_spans(terms(3), signs((0, COMMIT_4)), None, PREVIEW)) == [(0, PREVIEW.name)]
    assert names_of(line_spans(NO_EPOCHS, [], None, EARLIER)) == [(0, EARLIER.name)]


def test_a_coordinator_at_the_time_of_the_preview_is_of_it_unless_its_own_records_say_otherwise():
    """Its records may all lie before or after those that show it: it worked until the next one did."""
    early = EarlyTime(30, 40)
    assert names_of(line_spans(terms(0), [], early)) == [(0, PREVIEW.name)]
    assert names_of(line_spans(terms(0), signs((0, COMMIT_3)), early)) == [(0, PREVIEW.name)]
    assert names_of(line_spans(terms(0, 20), [], early)) == [(20, PREVIEW.name)]
    assert line_spans(terms(0, 30), [], early)[0].first_offset == 30
    assert names_of(line_spans(terms(0, 41), [], early)) == [(0, PREVIEW.name), (41, TODAY.name)]
    for other in (COMMIT_4, LISTED_TOPICS, HASHED_TOPICS):
        assert PREVIEW.name not in dict(names_of(line_spans(terms(0), signs((0, other)), early))).values()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], None),
        ([Sign(0, NEW_GROUP, 1, 9)], None),
        ([Sign(0, EARLY_SHAPE, 3, 5)], (3, 5)),
        ([Sign(0, EARLY_SHAPE, 3, 5), Sign(2, NEW_GROUP, 1, 9)], (1, 9)),
        # The classic group of a later release.
        ([Sign(0, EARLY_SHAPE, 3, 5), Sign(0, NEW_GROUP, 1, 9), Sign(2, LISTED_TOPICS, 8, 9)], (1, 5)),
        # Brokers of two releases at once: who wrote what shows neither is unknown.
        ([Sign(0, EARLY_SHAPE, 3, 5), Sign(0, HASHED_TOPICS, 4, 4)], None),
        ([Sign(0, EARLY_SHAPE, None, None)], None),
        # The times of commits are not kept.
        ([Sign(0, EARLY_SHAPE, 3, 5), Sign(0, COMMIT_4)], (3, 5)),
    ],
)
def test_the_time_of_the_preview_ends_with_the_last_record_of_its_coordinators(given, expected):
    assert early_time(given) == (None if expected is None else EarlyTime(*expected))


def test_signs_of_several_runs_become_one():
    one, other = Sign(0, TARGET, 3, 5), Sign(0, TARGET, 2, 4)
    assert merged_signs([one], [other, Sign(1, COMMIT_3)]) == (Sign(0, TARGET, 2, 5), Sign(1, COMMIT_3))


def test_the_line_at_an_offset_and_where_the_last_commit_counts():
    lines = Lines([LineSpan(5, PREVIEW.name), LineSpan(9, EARLIER.name), LineSpan(12, PREVIEW.name)])
    assert [lines.at(offset) for offset in (4, 5, 8, 9, 12, 99)] == [TODAY, PREVIEW, PREVIEW, EARLIER, PREVIEW, PREVIEW]
    assert lines.last_commits_after(-1) == lines.last_commits_after(8) == [(5, 9), (12, None)]
    # The record from which on it no longer does is replayed.
    assert lines.last_commits_after(9) == [(12, None)]
    assert Lines().at(0) is TODAY and Lines().last_commits_after(-1) == []


def test_only_the_preview_of_3_7_keeps_the_last_commit_and_groups_begin_at_1_since_4_3():
    assert [name for name, line in BY_RELEASE.items() if line.keeps_last_commit] == ["3.7-new"]
    assert [name for name, line in BY_RELEASE.items() if line.first_epoch == 1] == ["4.3", "4.4"]


def row(given=(), spans=()):
    return {"release_signs": [{"name": name} for name in given],
            "line_spans": [{"first_offset": at, "name": line.name} for at, line in spans]}  # fmt: skip


@pytest.mark.parametrize(
    ("progress", "release", "expected"),
    [
        ([], "", "of today's Kafka (4.3 and later): no record shows an earlier one"),
        ([row(), row([COMMIT_4])], "", "of today's Kafka (4.3 and later): no record shows an earlier one"),
        ([row([TIMED_TARGET])], "", "of today's Kafka (4.3 and later): the records show it"),
        ([row(), row([TARGET], [(0, EARLIER)])], "", "of Kafka before 4.3: the records show it"),
        ([row([TARGET], [(0, EARLIER), (9, TODAY)])], "",
         "of Kafka before 4.3, of today's Kafka (4.3 and later): each where the records show it"),
        ([row([COMMIT_3], [(0, PREVIEW)])], "3.7-new",
         'of Kafka 3.7 with the new coordinator: setting release = "3.7-new"'),
        ([row([COMMIT_3])], "4.4", 'of today\'s Kafka (4.3 and later): setting release = "4.4"'),
    ],
)  # fmt: skip
def test_the_page_of_a_run_names_the_rules_and_what_decided(progress, release, expected):
    assert rules_text(progress, release) == expected

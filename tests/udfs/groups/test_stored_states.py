"""The state of a group is stored without names of fields, since there is one for each group. A warehouse keeps states
of older releases: a field that moves would be read as another one, without an error."""

from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import pytest

from schemas.words.records import GroupType
from udfs.groups.fold import KnownPeriod
from udfs.groups.history.change_details import Change, GoneMember
from udfs.groups.history.intervals import MemberStretch, OwnerStretch, StateStretch
from udfs.groups.history.reading_ends import ReadingEnd
from udfs.groups.modern.state_json import from_plain, plain
from udfs.groups.readers.classic_records import ClassicValue
from udfs.groups.readers.modern_values import About, Topology
from udfs.groups.readers.records import Moment
from udfs.groups.states.modern import Base, Cause, Modern, Rebalance, Standing, Start, Stop
from udfs.topics.partition_codes import TopicCodes

OF_INTERVALS = "from_time from_record_offset is_from_exact last_offset group_type"
# As the oldest states have them. Never change a line.
STORED: dict[type[Any], str] = {
    StateStretch: f"{OF_INTERVALS} state generation_or_epoch protocol_type assignor num_members confidence",
    MemberStretch: f"{OF_INTERVALS} member_id group_instance_id client_id client_host rack_id joined_generation"
    " away_since_time",
    OwnerStretch: f"{OF_INTERVALS} tp member_id generation_or_epoch phase role subtopology_id",
    ClassicValue: "protocol_type generation protocol leader state_time members",
    About: "group_instance_id rack_id client_id client_host rebalance_timeout_ms topics regex assignor is_classic"
    " topology_epoch session_timeout_ms offered_versions",
    Topology: "epoch sources",
    Base: "group_instance_id assigned is_restarted",
    Standing: "epoch state since",
    Start: "time offset is_exact",
    Cause: "epoch trigger start changes",
    Stop: "member_id time offset assignment_offset is_reported end",
    ReadingEnd: "stopped_time first_time last_time basis silent_offset silent_first_time silent_last_time silent_basis",
    Change: "trigger text name needs_trigger gone",
    GoneMember: "member_id offset",
    Moment: "offset time",
    KnownPeriod: "since until",
}
# Of the open rebalance of a consumer, share or streams group, which is stored with names of fields.
STORED_BY_NAME = (
    "assignment_offset from_generation to_generation start trigger members_joined members_departed num_members_before"
    " num_members_after num_partitions assignor_before assignor_after detail num_moved num_returned num_unowned"
    " stopped_ms"
)
# Of a consumer, share or streams group itself, which is stored with names as well.
STORED_OF_GROUP = (
    "group_type epoch target_epoch metadata_hash validated_topology_epoch is_partial is_created former_type assignor"
    " generation told_target assignment_offset causes carried incomplete topology topics configs"
    " patterns members targets base start rebalance stops"
)


def test_a_group_is_stored_under_the_names_of_older_releases() -> None:
    topics = TopicCodes()
    state = plain(Modern(GroupType.CONSUMER, reported_target=7), topics)
    assert {*STORED_OF_GROUP.split()} <= {*state}
    assert state["told_target"] == 7
    assert from_plain(state, topics).reported_target == 7


@pytest.mark.parametrize("stored", STORED, ids=lambda stored: stored.__name__)
def test_new_fields_come_after_those_of_older_states_and_have_a_default(stored: type[Any]) -> None:
    older = STORED[stored].split()
    names = [each.name for each in fields(stored)] if is_dataclass(stored) else list(stored._fields)
    assert names[: len(older)] == older
    assert set(names[len(older) :]) <= with_default(stored)


def test_a_rebalance_that_an_older_release_left_open_has_all_fields_without_a_default() -> None:
    older, names = {*STORED_BY_NAME.split()}, {each.name for each in fields(Rebalance)}
    assert older <= names
    assert names - older <= with_default(Rebalance)


def with_default(stored: type[Any]) -> set[str]:
    if not is_dataclass(stored):
        return set(stored._field_defaults)
    return {each.name for each in fields(stored) if each.default is not MISSING}

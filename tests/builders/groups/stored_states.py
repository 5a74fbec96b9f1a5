"""What a fold remembers of groups, on its way through the text that a run stores."""

from collections.abc import Mapping
from typing import Any

from udfs.audit.states import GroupStates
from udfs.topics.partition_codes import TopicCodes


def texts_of(part: str, states: Mapping[str, Any], codes: TopicCodes | None = None) -> dict[str, str]:
    texts = GroupStates({}, codes or TopicCodes()).texts_after({part: states})
    return {group_id: text for group_id, text in texts.items() if text is not None}


def restored(part: str, texts: Mapping[str, str], codes: TopicCodes | None = None) -> Mapping[str, Any]:
    return GroupStates(texts, codes or TopicCodes()).of_fold(part)


def again(part: str, states: Mapping[str, Any], codes: TopicCodes | None = None) -> Mapping[str, Any]:
    return restored(part, texts_of(part, states, codes), codes)

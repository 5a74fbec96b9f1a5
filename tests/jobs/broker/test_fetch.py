"""Answers that no sound broker gives: nothing of the log may be passed over for them."""

from types import SimpleNamespace
from typing import Any

import pytest

from jobs.broker.fetch import read_answer
from jobs.broker.groups import GroupTopics, add
from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode
from tests.builders.logs.copies import Written, WrittenBatch

START = 10


class NodeOne:
    def leader(self, topic: str, partition: int) -> int:
        return 1


def answer(content: bytes | None) -> Any:
    return SimpleNamespace(error_code=0, records=content, log_start_offset=0, high_watermark=100)


def batch(base_offset: int) -> bytes:
    return WrittenBatch(base_offset, 0, (Written(0, b"k", b"v"), Written(1, b"k", b"v")), 1).bytes


@pytest.mark.parametrize("content", [batch(START)[:-1], batch(START)[:20], b"\0", batch(START - 2)])
def test_bytes_without_a_batch_to_go_on_after_are_an_error(content: bytes) -> None:
    with pytest.raises(Failure) as failed:
        read_answer(NodeOne(), "t", 3, START, answer(content))  # type: ignore[arg-type]
    assert failed.value.code == ExitCode.UNREADABLE_INPUT
    assert str(failed.value).startswith(f"t-3 at offset {START}: broker 1 sent {len(content)} bytes that are not")
    assert str(failed.value).endswith("its log may be damaged")


def test_whole_batches_and_a_cut_one_after_them() -> None:
    content = batch(START - 1) + batch(START + 5)
    result = read_answer(NodeOne(), "t", 3, START, answer(content + batch(START + 7)[:-1]))  # type: ignore[arg-type]
    assert (result.content, result.next_offset) == (content, START + 7)
    assert read_answer(NodeOne(), "t", 3, START, answer(None)).next_offset == START  # type: ignore[arg-type]


def test_offsets_of_a_group_that_is_gone_are_not_left_out() -> None:
    """69: GROUP_ID_NOT_FOUND, 30: GROUP_AUTHORIZATION_FAILED, 24: INVALID_GROUP_ID."""
    listing = GroupTopics()
    for group, code in (("well", 0), ("gone", 69), ("hidden", 30), ("odd", 24)):
        add(listing, group, code, [f"of {group}"])
    assert sorted(listing.left_out.values()) == [["hidden"], ["odd"]]

"""Logs as they were at an earlier time: each offsets partition cut behind a batch of its own."""

import struct

OVERHEAD = 12


def cut_at_random(log_dir, target, rng):
    for segment in sorted(log_dir.glob("__consumer_offsets-*/*.log")):
        content = segment.read_bytes()
        ends = batch_ends(content)
        cut = target / segment.relative_to(log_dir)
        cut.parent.mkdir(parents=True, exist_ok=True)
        cut.write_bytes(content[: ends[int(rng.integers(len(ends) // 4, len(ends)))]] if ends else b"")
    return target


def batch_ends(content):
    ends, at = [], 0
    while at + OVERHEAD <= len(content):
        (size,) = struct.unpack_from(">i", content, at + 8)
        at += OVERHEAD + size
        ends.append(at)
    return ends

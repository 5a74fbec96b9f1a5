"""JSON text of client payloads: decoded if they are understood, else their bytes in hex."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from schemas.fields import Message
from schemas.records import CONNECT, CONSUMER, SCHEMA_REGISTRY, SUBSCRIPTION
from udfs.arrays.big_endian import Positions
from udfs.arrays.slices import slices_of
from udfs.decoding.client_payloads import Fields, decode_payload, decode_user_data, version_groups
from udfs.decoding.messages.columns import without
from udfs.lines.line_steps import PLAIN, Memory, Steps, Style
from udfs.lines.payload_kinds import LARGEST_MEMORY, USER_DATA_PROTOCOLS, Kind, value_text
from udfs.lines.written_lines import texts_in_order

READ_ONE_BY_ONE = (CONNECT, SCHEMA_REGISTRY)
OTHER: Kind = (None, None)
Programs = Iterator[tuple[Steps, Positions]]


class PayloadTexts:
    """Those of the consumer protocol are read by a loop. Of all others, texts of those met so far are kept by protocol:
    they are read one by one, and a member's come again with every generation."""

    def __init__(self) -> None:
        self.known: dict[tuple[Kind, str], dict[bytes, str]] = {}
        self.size = 0

    def texts(self, kinds: Sequence[Kind], codes: Positions, column: pa.BinaryArray, message: Message) -> pa.Array:
        """One text a row, whose kind is `kinds[codes[row]]`."""
        numbers: dict[Kind, int] = {}
        number_of_code = np.array([numbers.setdefault(read_as(kind), len(numbers)) for kind in kinds], np.int64)
        memory, programs, rows = Memory(), [], []
        for kind, number in numbers.items():
            mine = np.flatnonzero(number_of_code[codes] == number)
            payloads_of_kind = column if len(mine) == len(column) else column.take(pa.array(mine))
            for steps, places in self.programs(kind, payloads_of_kind, message, memory):
                steps.end()
                programs.append(steps)
                rows.append(mine[places])
        return texts_in_order(programs, rows, len(column))

    def programs(self, kind: Kind, column: pa.BinaryArray, message: Message, memory: Memory) -> Programs:
        """What writes these payloads, each for some rows of the column."""
        protocol_type, protocol = kind
        everything = np.arange(len(column))
        if protocol_type == CONSUMER:
            yield from self.consumer_programs(protocol, column, message, memory)
        elif protocol_type in READ_ONE_BY_ONE:
            read = partial(decode_payload, protocol_type, message is SUBSCRIPTION)
            steps = Steps(memory)
            steps.text(self.known_texts(kind, message, column, read))
            yield steps, everything
        else:
            yield hex_steps(column, memory), everything

    def consumer_programs(
        self, protocol: str | None, column: pa.BinaryArray, message: Message, memory: Memory
    ) -> Programs:
        left = np.arange(len(column))
        for group in version_groups(slices_of(column), message):
            style = PLAIN
            if protocol is not None:
                read = partial(decode_user_data, protocol, message)
                user_data = group.values.field("user_data")
                style = Style({"user_data": self.known_texts((CONSUMER, protocol), message, user_data, read)})
            steps = Steps(memory)
            steps.say('{"version":')
            steps.value(pa.array(group.versions))
            steps.say(",")
            steps.fields(group.values, style=style)
            steps.say("}")
            yield steps, group.rows
            left = without(left, group.rows)
        if len(left):
            yield hex_steps(column.take(pa.array(left)), memory), left

    def known_texts(
        self, kind: Kind, message: Message, column: pa.BinaryArray, read: Callable[[bytes], Fields]
    ) -> pa.StringArray:
        """Each distinct value is read once."""
        encoded = column.dictionary_encode()
        raw = encoded.dictionary.to_pylist()
        known = self.known.setdefault((kind, message.name), {})
        for payload in raw:
            if payload not in known:
                text = known[payload] = value_text(read(payload), payload)
                self.size += len(payload) + len(text)
        distinct = pa.array([known[payload] for payload in raw], pa.string())
        if self.size > LARGEST_MEMORY:
            self.known.clear()
            self.size = 0
        return distinct.take(encoded.indices).fill_null("null")


def read_as(kind: Kind) -> Kind:
    """Without what makes no difference to how payloads are read."""
    protocol_type, protocol = kind
    if protocol_type == CONSUMER:
        return protocol_type, protocol if protocol in USER_DATA_PROTOCOLS else None
    return (protocol_type, None) if protocol_type in READ_ONE_BY_ONE else OTHER


def hex_steps(column: pa.BinaryArray, memory: Memory) -> Steps:
    steps = Steps(memory)
    steps.value(column)
    return steps

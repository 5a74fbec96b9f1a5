"""Members of classic groups, with the payloads of their clients where these are understood."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from schemas.fields import Message
from schemas.records import ASSIGNMENT, CONSUMER, SUBSCRIPTION
from schemas.words.records import NONE
from udfs.decoding.client_payloads import consumer_payloads
from udfs.decoding.decoded import Part
from udfs.rows.payload_json import PayloadTexts, payload_json
from udfs.rows.typed_arrays import bounds_of, fit_type, items_of, null_if_unknown

# Fields of a member under the names that they have in the table.
NAMES = {
    "rebalance_timeout": "rebalance_timeout_ms",
    "session_timeout": "session_timeout_ms",
    "subscription": "subscription_bytes",
    "assignment": "assignment_bytes",
}


def members(part: Part, kind: pa.ListType, texts: PayloadTexts) -> pa.Array:
    if part.value is None:
        return pa.nulls(len(part.rows), kind)
    lists = part.value.field("members")
    items, owner = items_of(lists)
    columns = {NAMES.get(name, name): column for name, column in zip(items.type.names, items.flatten(), strict=True)}
    if "rebalance_timeout_ms" in columns:
        columns["rebalance_timeout_ms"] = null_if_unknown(columns["rebalance_timeout_ms"], (NONE,))
    is_consumer = pc.equal(part.value.field("protocol_type"), CONSUMER).to_numpy(zero_copy_only=False)[owner]
    columns["subscription"] = structs(columns["subscription_bytes"], is_consumer, SUBSCRIPTION)
    columns["assignment"] = structs(columns["assignment_bytes"], is_consumer, ASSIGNMENT)
    columns["payload_json"] = payload_json(part.value, owner, columns, texts)
    made = fit_type(pa.StructArray.from_arrays(list(columns.values()), list(columns)), kind.value_type)
    bounds = bounds_of(lists)
    return pa.Array.from_buffers(kind, len(lists), [None, pa.py_buffer(bounds - bounds[0])], children=[made])


def structs(column: pa.BinaryArray, is_consumer: NDArray[np.bool_], message: Message) -> pa.StructArray:
    """Null for payloads of other protocol types, and for what cannot be read."""
    if not is_consumer.all():
        column = pc.if_else(pa.array(is_consumer), column, pa.scalar(None, column.type))
    read = consumer_payloads(column, message)
    names = ["partitions" if name == "assigned_partitions" else name for name in read.type.names]
    return pa.StructArray.from_arrays([read.field(name) for name in read.type.names], names, mask=read.is_null())

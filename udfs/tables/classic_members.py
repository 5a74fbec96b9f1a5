"""Members of classic groups with what their clients said, where it is understood."""

import pyarrow as pa
import pyarrow.compute as pc

from schemas import payloads
from schemas.fields import Message
from schemas.vocabulary import NONE
from udfs.decoding.client_payloads import consumer_payloads
from udfs.decoding.decode import Part
from udfs.lines.payload_text import USER_DATA_PROTOCOLS, PayloadTexts
from udfs.tables.arrays import bounds_of, fitted, items_of, known

# Fields of a member under the names that they have in the table.
NAMES = {
    "rebalance_timeout": "rebalance_timeout_ms",
    "session_timeout": "session_timeout_ms",
    "subscription": "subscription_bytes",
    "assignment": "assignment_bytes",
}
# Only the key itself stands so in JSON: inside a string its quotes are escaped.
UNDERSTOOD_USER_DATA = '"user_data":{'


def members(part: Part, kind: pa.ListType, texts: PayloadTexts) -> pa.Array:
    if part.value is None:
        return pa.nulls(len(part.rows), kind)
    lists = part.value.field("members")
    items, owner = items_of(lists)
    owners = pa.array(owner)
    types, protocols = (part.value.field(name).take(owners) for name in ("protocol_type", "protocol"))
    columns = {NAMES.get(name, name): column for name, column in zip(items.type.names, items.flatten(), strict=True)}
    if "rebalance_timeout_ms" in columns:
        columns["rebalance_timeout_ms"] = known(columns["rebalance_timeout_ms"], (NONE,))
    is_consumer = pc.equal(types, payloads.CONSUMER)
    subscription, assignment = columns["subscription_bytes"], columns["assignment_bytes"]
    columns["subscription"] = structs(subscription, is_consumer, payloads.SUBSCRIPTION)
    columns["assignment"] = structs(assignment, is_consumer, payloads.ASSIGNMENT)
    columns["payload_json"] = payload_json(types, protocols, subscription, assignment, texts)
    made = fitted(pa.StructArray.from_arrays(list(columns.values()), list(columns)), kind.value_type)
    bounds = bounds_of(lists)
    return pa.Array.from_buffers(kind, len(lists), [None, pa.py_buffer(bounds - bounds[0])], children=[made])


def structs(column: pa.BinaryArray, is_consumer: pa.BooleanArray, message: Message) -> pa.StructArray:
    if not pc.all(is_consumer).as_py():
        column = pc.if_else(is_consumer, column, pa.scalar(None, column.type))
    read = consumer_payloads(column, message)
    names = ["partitions" if name == "assigned_partitions" else name for name in read.type.names]
    return pa.StructArray.from_arrays([read.field(name) for name in read.type.names], names, mask=read.is_null())


def payload_json(
    types: pa.StringArray,
    protocols: pa.StringArray,
    subscription: pa.BinaryArray,
    assignment: pa.BinaryArray,
    texts: PayloadTexts,
) -> pa.StringArray:
    """Only of protocols whose payloads hold more than the structs can say."""
    other = pc.is_in(types, value_set=pa.array([payloads.CONNECT, payloads.SCHEMA_REGISTRY]))
    own = pc.and_(pc.equal(types, payloads.CONSUMER), pc.is_in(protocols, value_set=pa.array(USER_DATA_PROTOCOLS)))
    rows = pc.indices_nonzero(pc.or_(other, own))
    if not len(rows):
        return pa.nulls(len(types), pa.string())
    kinds = types.take(rows), protocols.take(rows)
    found = [
        understood(kinds[0], texts.texts(*kinds, column.take(rows), message))
        for column, message in ((subscription, payloads.SUBSCRIPTION), (assignment, payloads.ASSIGNMENT))
    ]
    is_any = pc.or_(*(column.is_valid() for column in found))
    first, second = (column.fill_null("null") for column in found)
    text = pc.binary_join_element_wise('{"subscription":', first, ',"assignment":', second, "}", "")
    shown = pc.if_else(is_any, text, pa.scalar(None, pa.string()))
    return shown.take(pc.index_in(pa.array(range(len(types)), rows.type), value_set=rows))


def understood(types: pa.StringArray, texts: pa.StringArray) -> pa.StringArray:
    """Null for what is hex alone, and for consumers' payloads whose user data is."""
    is_object = pc.starts_with(texts, "{")
    has_user_data = pc.match_substring(texts, UNDERSTOOD_USER_DATA)
    is_understood = pc.and_(is_object, pc.or_(pc.not_equal(types, payloads.CONSUMER), has_user_data))
    return pc.if_else(is_understood, texts, pa.scalar(None, pa.string()))

"""JSON of the parts of members' payloads that the structs of the consumer protocol do not have. Equal payloads are
decoded once."""

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.fields import Message
from schemas.records import ASSIGNMENT, CONNECT, CONSUMER, SCHEMA_REGISTRY, SUBSCRIPTION
from udfs.arrays.big_endian import Positions
from udfs.decoding.client_payloads import decode_payload, decode_user_data
from udfs.lines.payload_kinds import LARGEST_MEMORY, USER_DATA_PROTOCOLS, Kind, distinct_kinds, value_text

MESSAGES = (SUBSCRIPTION, ASSIGNMENT)
OTHER_TYPES = (CONNECT, SCHEMA_REGISTRY)


@dataclass
class PayloadTexts:
    """Texts of the payloads met so far, None for those that nobody understands."""

    known: dict[tuple[Kind, str], dict[bytes | None, str | None]] = field(default_factory=dict)
    size: int = 0

    def texts(self, kind: Kind, message: Message, column: pa.BinaryArray) -> pa.StringArray:
        encoded = column.dictionary_encode()
        raw = encoded.dictionary.to_pylist()
        known = self.known.setdefault((kind, message.name), {})
        for payload in raw:
            if payload not in known:
                text = known[payload] = payload_text(kind, message, payload)
                self.size += len(payload) + len(text or "")
        texts = pa.array([known[payload] for payload in raw], pa.string())
        if self.size > LARGEST_MEMORY:
            self.known.clear()
            self.size = 0
        return texts.take(encoded.indices)


def payload_text(kind: Kind, message: Message, raw: bytes) -> str | None:
    protocol_type, protocol = kind
    if protocol_type == CONSUMER:
        decoded = decode_user_data(protocol, message, raw)
    else:
        decoded = decode_payload(protocol_type, message is SUBSCRIPTION, raw)
    return None if decoded is None else value_text(decoded, raw)


def payload_json(
    group: pa.StructArray, owner: Positions, members: dict[str, pa.Array], texts: PayloadTexts
) -> pa.StringArray:
    """Of all members; `owner`: in which row of `group` each is."""
    pieces, rows = [pa.nulls(1, pa.string())], [np.zeros(0, np.int64)]
    codes, kinds = distinct_kinds(group.field("protocol_type"), group.field("protocol"))
    for code, kind in enumerate(kinds):
        protocol_type, protocol = kind
        if protocol_type in OTHER_TYPES:
            columns = [members["subscription_bytes"], members["assignment_bytes"]]
        elif protocol_type == CONSUMER and protocol in USER_DATA_PROTOCOLS:
            columns = [pc.struct_field(members[name], "user_data") for name in ("subscription", "assignment")]
        else:
            continue
        mine = np.flatnonzero(codes[owner] == code)
        values = (column.take(pa.array(mine)) for column in columns)
        pieces.append(objects(*map(texts.texts, (kind, kind), MESSAGES, values)))
        rows.append(mine)
    place = np.zeros(len(owner), np.int64)
    together = np.concatenate(rows)
    place[together] = np.arange(1, len(together) + 1)
    return pa.concat_arrays(pieces).take(pa.array(place))


def objects(subscription: pa.StringArray, assignment: pa.StringArray) -> pa.StringArray:
    """Null where nothing is understood of either."""
    is_any = pc.or_(subscription.is_valid(), assignment.is_valid())
    parts = ('{"subscription":', subscription.fill_null("null"), ',"assignment":', assignment.fill_null("null"), "}")
    return pc.if_else(is_any, pc.binary_join_element_wise(*parts, ""), pa.scalar(None, pa.string()))

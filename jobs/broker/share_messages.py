"""A request that Kafka has and the client library lacks: the current offsets of share groups."""

from functools import cache
from typing import Any

Json = dict[str, Any]

API_KEY = 90


def field(name: str, type: str, *fields: Json, is_nullable: bool = False) -> Json:
    declaration: Json = {"name": name, "type": type, "versions": "0+"}
    if fields:
        declaration["fields"] = list(fields)
    if is_nullable:
        declaration["nullableVersions"] = "0+"
    return declaration


def schema(name: str, kind: str, *fields: Json) -> Json:
    about = {"apiKey": API_KEY, "type": kind, "name": name}
    return {**about, "validVersions": "0", "flexibleVersions": "0+", "fields": list(fields)}


REQUEST = schema(
    "DescribeShareGroupOffsetsRequest",
    "request",
    field(
        "Groups",
        "[]Asked",
        field("GroupId", "string"),
        # None requests all of them.
        field(
            "Topics",
            "[]AskedTopic",
            field("TopicName", "string"),
            field("Partitions", "[]int32"),
            is_nullable=True,
        ),
    ),
)
RESPONSE = schema(
    "DescribeShareGroupOffsetsResponse",
    "response",
    field("ThrottleTimeMs", "int32"),
    field(
        "Groups",
        "[]Told",
        field("GroupId", "string"),
        field(
            "Topics",
            "[]ToldTopic",
            field("TopicName", "string"),
            field("TopicId", "uuid"),
            field(
                "Partitions",
                "[]ToldPartition",
                field("PartitionIndex", "int32"),
                field("StartOffset", "int64"),
                field("LeaderEpoch", "int32"),
                field("ErrorCode", "int16"),
                field("ErrorMessage", "string", is_nullable=True),
            ),
        ),
        field("ErrorCode", "int16"),
        field("ErrorMessage", "string", is_nullable=True),
    ),
)


@cache
def messages() -> tuple[Any, Any]:
    """The classes of the request and of its response."""
    return message(REQUEST, "ListGroupsRequest"), message(RESPONSE, "ListGroupsResponse")


def message(json: Json, stand_in: str) -> Any:
    """The library makes a class from the schema with its name. So this uses the name of another message."""
    from kafka.protocol.api_message import ApiMessage

    return type(ApiMessage)(stand_in, (ApiMessage,), {"json_patch": classmethod(lambda cls, theirs: json)})

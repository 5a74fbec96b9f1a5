"""Recorded members of a classic group with one thing about their lists changed. Each says whether it could."""

from random import Random
from typing import Any

Row = dict[str, Any]


def move(random: Random, members: list[Row]) -> bool:
    """One partition from one member to another that subscribes to its topic."""
    givers = [each for each in members if each["assignment"]["partitions"]]
    if not givers:
        return False
    giver = random.choice(givers)
    listed = random.choice(giver["assignment"]["partitions"])
    takers = [each for each in members if each is not giver and listed["topic"] in each["subscription"]["topics"]]
    if not takers:
        return False
    give(random.choice(takers), listed["topic"], take(random, giver, listed))
    return True


def take(random: Random, giver: Row, listed: Row) -> int:
    partition: int = listed["partitions"].pop(random.randrange(len(listed["partitions"])))
    if not listed["partitions"]:
        giver["assignment"]["partitions"].remove(listed)
    return partition


def give(taker: Row, topic: str, partition: int) -> None:
    lists = taker["assignment"]["partitions"]
    for listed in lists:
        if listed["topic"] == topic:
            listed["partitions"].append(partition)
            return
    lists.append({"topic": topic, "partitions": [partition]})


def swap(random: Random, members: list[Row]) -> bool:
    """The lists of two members."""
    pairs = [
        (one, other)
        for one in members
        for other in members
        if one["assignment"]["partitions"] != other["assignment"]["partitions"]
    ]
    if not pairs:
        return False
    one, other = random.choice(pairs)
    one["assignment"], other["assignment"] = other["assignment"], one["assignment"]
    return True


def drop(random: Random, members: list[Row]) -> bool:
    givers = [each for each in members if each["assignment"]["partitions"]]
    if not givers:
        return False
    giver = random.choice(givers)
    take(random, giver, random.choice(giver["assignment"]["partitions"]))
    return True


def double(random: Random, members: list[Row]) -> bool:
    """One partition to a second member too."""
    givers = [each for each in members if each["assignment"]["partitions"]]
    if not givers or len(members) == 1:
        return False
    giver = random.choice(givers)
    listed = random.choice(giver["assignment"]["partitions"])
    give(random.choice([each for each in members if each is not giver]), listed["topic"], listed["partitions"][0])
    return True


ALTERATIONS = (move, swap, drop, double)

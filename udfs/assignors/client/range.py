"""Kafka's client-side RangeAssignor for groups in which racks do not matter."""

import numpy as np
from numpy.typing import NDArray

from udfs.assignors.client.range_racks import needs_racks, range_by_racks
from udfs.assignors.java.iteration_order import Positions, by_text, compute_order, put_order, ranks
from udfs.assignors.questions.problems import Assignment, Problem, within

STATIC_MEMBERS_SINCE = (2, 4, 0)
# From here on the map of consumers by topic was filled by computeIfAbsent.
COMPUTED_MAP_SINCE = (2, 4, 0)
RACKS_SINCE = (3, 5, 0)


def client_range(problem: Problem) -> Assignment:
    if problem.release >= RACKS_SINCE and needs_racks(problem).any():
        return range_by_racks(problem)
    topics = topics_in_order(problem)
    counts = problem.counts[topics]
    return Assignment(
        dealt(problem, topics).astype(np.int32),
        np.repeat(topics.astype(np.int32), counts),
        within(counts).astype(np.int32),
    )


def topics_in_order(problem: Problem) -> Positions:
    """The topics as the release walks them: from 3.5 its map of partitions, before its map of subscribers."""
    if problem.release >= RACKS_SINCE:
        return problem.topics_walked
    met = problem.subscribed_in_order
    hashes = problem.topic_hashes[met]
    if problem.release >= COMPUTED_MAP_SINCE:
        is_touched_after = is_met_again(problem, int(met[-1]) if len(met) else 0)
        met = met[compute_order(hashes, is_touched_after, rank_of=by_text(problem.topics, met))]
    else:
        met = met[put_order(hashes, rank_of=by_text(problem.topics, met))]
    return met[problem.known[met]]


def is_met_again(problem: Problem, last_topic: int) -> bool:
    """Whether the walk over all subscriptions goes on after it met the last new topic."""
    times = sum(
        len(members) * int(np.count_nonzero(listed == last_topic))
        for members, listed in zip(problem.members_by_class, problem.topics_of_class, strict=True)
    )
    listed_last = [
        problem.topics_of_class[k] for k in problem.class_of_member[problem.walked] if len(problem.topics_of_class[k])
    ][-1:]
    return times > 1 or not listed_last or int(listed_last[0][-1]) != last_topic


def dealt(problem: Problem, topics: Positions) -> NDArray[np.intp]:
    """The owner of each partition of the topics, one topic after the other."""
    by_id = problem.release < STATIC_MEMBERS_SINCE
    order = np.argsort(problem.member_ranks) if by_id else problem.statically_sorted
    places = ranks(order)
    audience_of_topic, audiences = problem.audiences
    counts = problem.counts[topics]
    starts = np.cumsum(counts) - counts
    owners = np.empty(int(counts.sum()), np.intp)
    # Topics with the same subscribers and as many partitions are cut alike.
    alike: dict[tuple[int, int], list[int]] = {}
    for at, key in enumerate(zip(audience_of_topic[topics].tolist(), counts.tolist(), strict=True)):
        alike.setdefault(key, []).append(at)
    for (audience, count), at_topics in alike.items():
        members = audiences[audience]
        ranges = cut(members[np.argsort(places[members])], count)
        first, last = at_topics[0], at_topics[-1]
        if last - first + 1 == len(at_topics):
            owners[starts[first] : starts[last] + count].reshape(-1, count)[:] = ranges
        else:
            owners[starts[at_topics][:, None] + np.arange(count)] = ranges
    return owners


def cut(members: Positions, count: int) -> Positions:
    """The owner of each of a topic's partitions."""
    share, extra = divmod(count, len(members))
    return np.repeat(members, share + (np.arange(len(members)) < extra))

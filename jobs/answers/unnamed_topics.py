"""Topics that the history knows only by id, so that a search by name cannot find them."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from jobs.answers.history import History
from jobs.output.failure import say, visible
from udfs.sentences.name_lists import list_names

REMEDY = "name them: groupscope ingest --snapshots FILE, from kafka-topics --describe or groupscope capture --into"
# Limit of groups named in a message; for more, only the number.
MOST_NAMED = 5


def unnamed_ids(partitions: Iterable[Mapping[str, Any]], topics: Iterable[Mapping[str, Any]]) -> set[str]:
    """From rows of replayed_partitions and of topics."""
    named = {row["topic_id"] for row in topics}
    return {topic_id for row in partitions for topic_id in row["unnamed_topic_ids"]} - named


def unnamed_text(ids: Collection[str]) -> str:
    return f"{len(ids)} topic {'id has' if len(ids) == 1 else 'ids have'} no name; {REMEDY}"


def say_unnamed(history: History) -> set[str]:
    """Printed before the answer, if there are any."""
    partitions = history.reader_rows("replayed_partitions", ["unnamed_topic_ids"])
    ids = unnamed_ids(partitions, history.reader_rows("topics", ["topic_id"]))
    if ids:
        say(unnamed_text(ids))
    return ids


def say_may_own(topic: str, partition: int, groups: Collection[str]) -> None:
    """Groups that own such a partition of a topic without a name."""
    if groups:
        line = f"they own partition {partition} of a topic that is known only by id, which may be {topic}"
        say(visible(f"groups perhaps missing from the answer: {list_names(sorted(groups), MOST_NAMED)}; {line}"))


def say_listed_twice(topics: Collection[str], unnamed: Collection[str]) -> None:
    """`topics`: of the rows of a group, by id if they have no name."""
    if any(topic in unnamed for topic in topics) and any(topic not in unnamed for topic in topics):
        say("topics without a name: a partition may have two rows, its owner by topic id and its offset by topic name")

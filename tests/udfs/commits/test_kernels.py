"""Arguments for the loop that links commits: windows of logs by chance."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from schemas.tables import TABLES
from tests.builders.groups.offset_logs import commits_table, markers_table, random_log
from tests.udfs.commits.test_link_commits import questions_at
from udfs.arrays.arrow_schema import table_schema
from udfs.commits.group_questions import QuestionQueue
from udfs.commits.kernels import link
from udfs.commits.key_states import KeyStates
from udfs.commits.windows import Window


def inputs(rng: np.random.Generator) -> dict[str, list[tuple[Any, ...]]]:
    logs = {share: list(windows(rng, share)) for share in (0.0, 0.3, 0.9)}
    return {
        "link": [each for of_log in logs.values() for each in of_log],
        # The keys before the second window.
        "held_values": [(of_log[1][3], order) for of_log in logs.values() for order in orders(rng, len(of_log[1][3]))],
    }


def orders(rng: np.random.Generator, num_keys: int) -> Iterator[np.ndarray]:
    yield from (rng.permutation(num_keys), np.arange(num_keys)[: num_keys // 2], np.empty(0, np.int64))


def windows(rng: np.random.Generator, share_of_transactions: float) -> Iterator[tuple[Any, ...]]:
    """Two, so that the second begins with what the first left."""
    states = KeyStates("c", 3, table_schema(TABLES["replayed_offsets"]).empty_table())
    log = random_log(rng, 200, share_of_transactions)
    queue = QuestionQueue(questions_at(rng, 30, 0, log[-1]["record_offset"] + 3), states)
    gaps, last_commits = np.array([[3, 40], [5, 60]]), np.array([[20, 120], [40, 150]])
    for part in (log[:100], log[100:]):
        window = Window(states, commits_table(part), markers_table(part), queue.count)
        arguments = window.arguments(states, queue.rows, gaps, last_commits, part[-1]["record_offset"])
        yield tuple(each.copy() if isinstance(each, np.ndarray) else each for each in arguments)
        link(*arguments)
        queue.count = int(window.counts[-1])
        window.keep_pending(states)

"""The coordinator's `uniform`. Members with equal subscriptions get the same number of partitions, and keep as many of
their own as possible.

Others, from 4.0 on (KAFKA-17710), keep what they had, and the rest goes to the least loaded subscriber. Then, topic by
topic, partitions move from the most loaded subscriber to the least loaded one, until the subscribers of no topic differ
by more than one.
"""

from collections.abc import Sequence
from typing import Final

from udfs.assignors.questions.problems import Answer, AssignorFailed
from udfs.assignors.questions.server_problems import ServerProblem
from udfs.assignors.server.groups import ServerGroups
from udfs.assignors.server.kernels import BEYOND, LEFT_OVER, uniform_rows

FAILURES: Final = {
    LEFT_OVER: "partitions are left unassigned after each member has its share",
    BEYOND: "a target holds a partition beyond its topic's count",
}


def uniforms_by_topic(problems: Sequence[ServerProblem]) -> list[Answer]:
    answers, failures = ServerGroups(problems).answers(uniform_rows)
    return [
        AssignorFailed(FAILURES[failure]) if failure else answer
        for answer, failure in zip(answers, failures, strict=True)
    ]

"""The `simple` assignor of share groups from 4.2 on. Members are spread evenly over partitions, and partitions evenly
over members.

Members with the same topics share all partitions at once; others share them topic by topic. What they had of a topic
that nobody takes any more stays then, as in Kafka.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from udfs.assignors.questions.problems import Answer, AssignorFailed, Codes, Numbers, Rows
from udfs.assignors.questions.server_problems import ServerProblem
from udfs.assignors.server.groups import FIRST_JDK_OF_NEW_COPIES, ServerGroups
from udfs.assignors.share.kernels import simple_rows

FAILURE: Final = "no member is left for a partition that more members should share"
NO_ROWS: Final = Rows(*(np.empty(0, np.int32) for _ in range(3)))


class ShareGroups(ServerGroups):
    @property
    def sizes_and_rules(self) -> Numbers:
        """By group, in the columns of udfs/assignors/share/kernels.py."""
        return self.sizes(
            (
                len(each.targets),
                each.jdk >= FIRST_JDK_OF_NEW_COPIES,
                each.is_homogeneous,
                each.assignable is not None,
                len(each.assignable or NO_ROWS),
            )
            for each in self.problems
        )

    @property
    def assignable(self) -> tuple[Codes, Codes]:
        _, topics, partitions = self.rows(lambda problem: problem.assignable or NO_ROWS)
        return topics, partitions


def simples(problems: Sequence[ServerProblem]) -> list[Answer]:
    groups = ShareGroups(problems)
    answers, failures = groups.answers(simple_rows, *groups.assignable)
    return [AssignorFailed(FAILURE) if fails else answer for answer, fails in zip(answers, failures, strict=True)]

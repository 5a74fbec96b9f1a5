"""The columns of groups of leaders."""

import numpy as np

from udfs.assignors.flat_groups.groups import FlatGroups
from udfs.assignors.java.iteration_order import Positions, java_sorted
from udfs.assignors.questions.problems import Problem


class ClientGroups(FlatGroups[Problem]):
    @property
    def topics_by_name(self) -> Positions:
        return np.concatenate([java_sorted(problem.topics) for problem in self.problems])

    @property
    def members_by_id(self) -> Positions:
        return np.concatenate([java_sorted(problem.members) for problem in self.problems])

    @property
    def statically_sorted(self) -> Positions:
        return np.concatenate([problem.statically_sorted for problem in self.problems])

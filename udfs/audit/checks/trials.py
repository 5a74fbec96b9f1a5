"""Whether the class that runs under an assignor's name is Kafka's, by how often a group's targets are those of Kafka's
class.

A broker takes any class for `group.consumer.assignors`, and the class says its own name, so a name proves no class.
"""

from dataclasses import dataclass
from enum import Enum, auto

# So many targets that differ from Kafka's, while none is equal, are those of another class.
FEWEST_UNEQUAL = 3


class Standing(Enum):
    KAFKAS = auto()
    CUSTOM = auto()
    # Too few targets to tell.
    UNKNOWN = auto()


@dataclass
class Trial:
    """Of one group under one name. `num_equal` counts only targets that another assignor would hardly give too."""

    num_equal: int = 0
    num_unequal: int = 0
    # Both numbers at the end of the previous run.
    before: tuple[int, int] = (0, 0)
    # Whether the brokers' setting lists a class that is not Kafka's, and whether that is the one in force.
    is_any_listed: bool = False
    is_listed: bool = False

    @property
    def standing(self) -> Standing:
        return self.standing_of(self.num_equal, self.num_unequal)

    def standing_of(self, num_equal: int, num_unequal: int) -> Standing:
        if num_equal:
            return Standing.KAFKAS
        return Standing.CUSTOM if self.is_listed or num_unequal >= FEWEST_UNEQUAL else Standing.UNKNOWN

    @property
    def is_overturned(self) -> bool:
        """Whether this run changes what rows of earlier runs say."""
        return self.before[1] > 0 and self.standing_of(*self.before) != self.standing

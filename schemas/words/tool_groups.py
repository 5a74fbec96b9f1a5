"""Groups that tools make for themselves, by the beginnings of their ids: the default of `[gate] tool_groups`, and what
v_inventory marks."""

from dataclasses import dataclass

DIGITS = "0123456789"


@dataclass(frozen=True)
class ToolGroup:
    """`has_number`: digits follow the beginning, and nothing else; otherwise anything does."""

    begins: str
    has_number: bool = False

    @property
    def pattern(self) -> str:
        """A regular expression of the whole id."""
        return self.begins + ("[0-9]+" if self.has_number else ".*")

    def condition(self, column: str) -> str:
        """The same as SQL that every engine reads alike."""
        size = len(self.begins)
        begins = f"substring({column}, 1, {size}) = '{self.begins}'"
        if not self.has_number:
            return begins
        rest = f"substring({column}, {size + 1})"
        return f"({begins} AND length({rest}) > 0 AND length(translate({rest}, '{DIGITS}', '')) = 0)"


TOOL_GROUPS = (
    ToolGroup("console-consumer-", has_number=True),
    ToolGroup("perf-consumer-", has_number=True),
    ToolGroup("kminion-"),
    ToolGroup("burrow-"),
    ToolGroup("_confluent-"),
    ToolGroup("KafkaManagerOffsetCache"),
    ToolGroup("KMOffsetCache-"),
)

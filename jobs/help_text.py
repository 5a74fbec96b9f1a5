"""Help: of all commands under headings, and of one command as the docstring of its job says it, examples included."""

import argparse
import ast
from collections.abc import Mapping, Sequence
from pkgutil import get_data

HYPHENS = "Write a name that begins with a hyphen, and all that follows it, after two hyphens: -- -name"
NAME_WIDTH = 14


def commands_text(sections: Mapping[str, Mapping[str, str]], examples: Sequence[str]) -> str:
    """What `groupscope --help` prints after the usage."""
    blocks = [
        "\n".join([f"{title}:", *(f"  {name:<{NAME_WIDTH}}{summary}" for name, summary in commands.items())])
        for title, commands in sections.items()
    ]
    shown = "\n".join(["Examples:", *(f"  {example}" for example in examples)])
    return "\n\n".join([*blocks, shown, "groupscope COMMAND --help shows the flags of a command and more examples."])


def description_of(command: str) -> str:
    """The docstring of the command's module, which is not loaded for it: that may take a second. It may lie in the zip
    that spark-submit ships."""
    source = get_data("jobs", f"{command}.py")
    return ast.get_docstring(ast.parse(source or "")) or ""


class HelpText(argparse.RawDescriptionHelpFormatter):
    """Flags in one column and what they do beside them, with the description as it is written."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32)

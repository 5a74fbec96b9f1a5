"""Help texts: the list of all commands, and for one command the docstring of its job, with examples."""

import argparse
import ast
from collections.abc import Mapping, Sequence
from pkgutil import get_data

HYPHENS = "If a name begins with a hyphen, write -- before it and all flags before --, as in: --wide -- -name"
NAME_WIDTH = 14
MORE = """\
groupscope COMMAND --help shows the flags of a command and more examples.
groupscope --version shows the version."""


def commands_text(sections: Mapping[str, Mapping[str, str]], examples: Sequence[str]) -> str:
    """The commands and examples that `groupscope --help` prints after the usage line."""
    blocks = [
        "\n".join([f"{title}:", *(f"  {name:<{NAME_WIDTH}}{summary}" for name, summary in commands.items())])
        for title, commands in sections.items()
    ]
    shown = "\n".join(["Examples:", *(f"  {example}" for example in examples)])
    return "\n\n".join([*blocks, shown, MORE])


def description_of(command: str) -> str:
    """The docstring of the command's module. It is read as text, since an import may take a second; the module may be
    in the zip that spark-submit ships."""
    source = get_data("jobs", f"{command}.py")
    return ast.get_docstring(ast.parse(source or "")) or ""


class HelpText(argparse.RawDescriptionHelpFormatter):
    """Flags in one column, what they do in the next, and the description with its line breaks."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32)

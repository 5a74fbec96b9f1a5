"""Prints a script that lets your shell complete commands, flags, values of flags, groups, topics and files.

    groupscope completion bash > ~/.local/share/bash-completion/completions/groupscope
    groupscope completion zsh > ~/.zfunc/_groupscope
    groupscope completion fish > ~/.config/fish/completions/groupscope.fish

New shells load this file; zsh needs `fpath+=~/.zfunc` before `compinit` in ~/.zshrc. The script calls `groupscope` for
each completion, so it stays correct after an upgrade. Groups and topics come from the warehouse of --warehouse
(default: `warehouse/`).
"""

import argparse
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from argcomplete import autocomplete
from argcomplete.completers import DirectoriesCompleter, FilesCompleter
from argcomplete.shell_integration import shellcode

from jobs.command_line.values import OF_MACHINE, zone_names
from jobs.output.failure import Failure
from jobs.output.rows import write_lines
from jobs.processes.no_pandas import keep_pandas_out

Completer = Callable[..., Iterable[str]]


def run(arguments: argparse.Namespace) -> None:
    # Without defaults, bash does not offer files where a time is expected.
    write_lines([shellcode(["groupscope"], use_defaults=False, shell=arguments.shell)])


def offer(parser: argparse.ArgumentParser, command: argparse.ArgumentParser | None) -> None:
    """Answers the shell and ends the process."""
    for action in () if command is None else command._actions:
        if action.choices is None:
            action.completer = COMPLETERS.get(str(action.metavar), nothing)  # type: ignore[attr-defined]
    autocomplete(parser, always_complete_options=False)


def nothing(**_: Any) -> Iterable[str]:
    """For times, numbers and patterns. argcomplete's own way to suppress completions hides the flag too."""
    return []


def names(parsed_args: argparse.Namespace, columns: dict[str, str], **_: Any) -> Iterable[str]:
    """None if there is no warehouse: a shell cannot show messages."""
    keep_pandas_out()
    from jobs.answers.history import open_history

    try:
        history = open_history(parsed_args)
        distinct = {name for table, column in columns.items() for name in history.distinct(table, column)}
    except Failure:
        return []
    # Leaves out names that a shell cannot show. A line feed would make two names.
    return sorted(name for name in distinct if name and name.isprintable())


def formats(prefix: str, **_: Any) -> Iterable[str]:
    """For --source: only its first form takes files."""
    form, colon, place = prefix.partition(":")
    if form in ("segments", "records") and colon:
        return [f"{form}:{each}" for each in FilesCompleter()(place)]
    return ["segments:", "kafka:", "records:"]


# By the placeholder of the value in help.
COMPLETERS: dict[str, Completer] = {
    "GROUP": partial(names, columns={"group_state_intervals": "group_id"}),
    "TOPIC": partial(names, columns={"ownership_intervals": "topic", "offset_history": "topic"}),
    "FILE": FilesCompleter(),
    "SQL|FILE": FilesCompleter(allowednames=("sql",)),
    "DIR": DirectoriesCompleter(),
    "FORM:PLACE": formats,
    "ZONE": lambda **_: [OF_MACHINE, *zone_names()],
}

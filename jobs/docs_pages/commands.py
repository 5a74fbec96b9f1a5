"""Writes docs/commands.md from the parsers of the commands. With --check it only says whether the page is current.

python -m jobs.docs_pages.commands [--check]
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from jobs.command_line.flags import COMMANDS, Kind, add_arguments
from jobs.docs_pages.page_file import write_or_check

PAGE = Path("docs/commands.md")

INTRODUCTION = """# Commands

Generated from the code: each command with its arguments and flags. `groupscope COMMAND --help` prints the same, with
examples.

After `make setup` the command is `.venv/bin/groupscope`. The jobs `audit`, `ingest`, `replay`, `assignments`, `lag` and
`gate` are also scripts for spark-submit, `jobs/<job>.py`, with the same flags. Each command ends with one of these
[exit codes](exit_codes.md), and each takes `--debug`, which shows the stack trace of a failure. `groupscope --version`
shows the version of Groupscope, the version of the tables that it writes, and the newest Kafka release that it knows.

A command that takes longer than three seconds shows its progress on standard error: a live line on a terminal, a line
every half minute in a log. It shows the time left where the amount of work is known. SQL that Spark runs has no such
amount.

**Times.** A time (T) of a flag has one of these forms:

| T | means |
|---|---|
| `2026-11-21T05:27`, `2026-11-21` | ISO 8601. Without a zone it is in the zone of `--tz` |
| `05:27`, `05:27:13` | the newest such time of day that is not later than `now` |
| `yesterday`, `"yesterday 05:27"` | the day before that of `now`; without a time of day, its beginning |
| `"5m ago"`, `"2h 5m ago"`, `-5m` | so long before `now`. Units: s, m, h, d (24 hours), w |
| `now` | for commands that ask about the past: the end of what the warehouse knows; for others: when they start |
| `1795238820000` | milliseconds since 1970 |

The end of what the warehouse knows is the as-of time of the newest run of `lag` or `audit`, or a later record or
snapshot: an old archive answers as of its own end. `--since` and `--until` count from the as-of time of the run. The
first line of an answer shows the time that was asked for in full; beside CSV and JSON that line is
on standard error.

**Time zone.** `--tz Europe/Berlin` reads times in that zone, and shows them in it: in tables, on the page of a run and
in the report. Each of these names the zone once. `--tz local` takes the zone of this machine. Delta tables, CSV and
JSON are in UTC. So are times inside messages of findings and reasons of verdicts, since these are stored texts. Where
clocks are set back, a time comes twice: the earlier one is used, and a line says so. Where they are set forward, a time
that no clock shows is refused.
"""
HYPHENS = "Put `--` before a name that begins with a hyphen: `groupscope {} -- -name`."

# Commands that do two things.
USAGES = {
    "status": ("groupscope status [flags]", "groupscope status GROUP [flags]"),
    "gate": (
        "groupscope gate [flags]",
        "groupscope gate --group GROUP --span TOPIC:PARTITION:FROM:TO[:ROWS] --result FILE [flags]",
    ),
    "mark": (
        "groupscope mark TEXT [--at T] [--group REGEX] [flags]",
        "groupscope mark --list [flags]",
        "groupscope mark --remove N [flags]",
    ),
}

# What explains a command at length.
MORE = {
    "status": "guides/on_call.md#what-is-wrong-now",
    "audit": "operations.md",
    "ingest": "inputs.md",
    "replay": "history.md",
    "assignments": "assignors.md#how-the-audit-decides",
    "lag": "inputs.md#snapshots",
    "gate": "operations.md#the-gate",
    "report": "operations.md#the-report",
    "capture": "inputs.md#snapshots",
    "describe": "history.md#as-kafka-consumer-groups-shows-it",
    "rebalances": "history.md#what-happened-to-a-group-and-when",
    "why": "history.md#what-happened-to-a-group-and-when",
    "mark": "history.md#what-followed-a-deployment",
    "offsets": "guides/on_call.md#put-a-group-back",
    "whatif": "assignors.md#what-another-assignor-would-give",
    "assign": "assignors.md#inputs-of-an-assignor",
    "sql": "sql.md",
    "dump": "inputs.md#dump",
}


def page() -> str:
    contents = [f"- [{name}](#{name}): {plain(command.summary)}" for name, command in COMMANDS.items()]
    lines = [INTRODUCTION, *contents, ""]
    for name, command in COMMANDS.items():
        lines += command_lines(name, command.summary)
    return "\n".join(lines).rstrip("\n") + "\n"


def command_lines(name: str, summary: str) -> Iterator[str]:
    actions = actions_of(name)
    arguments = [action for action in actions if not action.option_strings]
    flags = [action for action in actions if action.option_strings]
    yield from (f"## {name}", "", f"{plain(summary[0].upper() + summary[1:])}.", "")
    if name in MORE:
        yield from (f"More: [{MORE[name].partition('#')[0]}]({MORE[name]}).", "")
    yield from ("```text", *USAGES.get(name, [usage(name, actions)]), "```", "")
    yield from table("argument", [(word_of(each), each) for each in arguments if each.help])
    yield from table("flag", [(flag_text(each), each) for each in flags])
    if Kind.NAMES in COMMANDS[name].kind:
        yield from (HYPHENS.format(name), "")


def usage(name: str, actions: list[argparse.Action]) -> str:
    """Required flags are named."""
    words = [word_of(each) for each in actions if not each.option_strings]
    words += [flag_text(each) for each in actions if each.option_strings and each.required]
    rest = ["[flags]"] if any(each.option_strings for each in actions) else []
    return " ".join(["groupscope", name, *words, *rest])


def actions_of(command: str) -> list[argparse.Action]:
    parser = argparse.ArgumentParser(prog=f"groupscope {command}", add_help=False)
    add_arguments(parser, command)
    return [action for action in parser._actions if action.help != argparse.SUPPRESS]


def table(head: str, rows: list[tuple[str, argparse.Action]]) -> Iterator[str]:
    if rows:
        yield from (f"| {head} | what it does |", "|---|---|")
        yield from (f"| `{escape_cell(text)}` | {plain(help_of(action))} |" for text, action in rows)
        yield ""


def word_of(argument: argparse.Action) -> str:
    word = value_of(argument) or argument.dest
    return {"?": f"[{word}]", "*": f"[{word} …]", "+": f"{word} […]"}.get(str(argument.nargs), word)


def flag_text(flag: argparse.Action) -> str:
    return " ".join([", ".join(flag.option_strings), value_of(flag)]).strip()


def value_of(action: argparse.Action) -> str:
    """Empty: a flag without a value."""
    if action.nargs == 0:
        return ""
    if action.choices is not None and action.metavar is None:
        return "|".join(map(str, action.choices))
    return str(action.metavar or action.dest.upper())


def help_of(action: argparse.Action) -> str:
    return (action.help or "") % {**vars(action), "prog": "groupscope"}


def plain(text: str) -> str:
    """Text that Markdown shows as it is, flags as code."""
    shielded = re.sub(r"([\\*<\[\]]|__)", r"\\\1", escape_cell(text))
    return re.sub(r"(?<![\w`-])(--[a-z][a-z-]*)", r"`\1`", shielded)


def escape_cell(text: str) -> str:
    """Without what ends a cell of a table."""
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page(), "jobs.docs_pages.commands", sys.argv[1:]))

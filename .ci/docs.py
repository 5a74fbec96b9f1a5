"""Writes what is generated in the pages of docs/: the parts between two marks, from the declarations. The rest of each
page is written by hand.

    python .ci/docs.py            writes what has changed
    python .ci/docs.py --check    only says which pages are not current
"""

import argparse
import ast
import dataclasses
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from jobs.command_line.flags import COMMANDS, Kind, add_arguments
from jobs.configuration.settings import Settings, heading
from jobs.configuration.settings_file import kind_of, toml_value
from jobs.gating.declarations.metric_files import FAILING, our_metrics
from schemas import payloads
from schemas.fields import Array, Field, FieldType, Message, Shape, Struct
from schemas.functions import SCALAR_FUNCTIONS
from schemas.records import CONTROL_KEY, CONTROL_VALUE, REGISTRY
from schemas.renames import RENAMES
from schemas.tables import CONTRACT_VERSION, USER_TABLES, Column, ColumnType, ListOf, MapOf, StructOf, Table, sql_type
from schemas.views import VIEWS
from schemas.words.exit_codes import ExitCode
from schemas.words.gate import ExportedMetric, FindingKind

DOCS = Path("docs")
PART = re.compile(r"(<!-- generated[^>]*-->\n).*?(<!-- end[^>]*-->)", re.DOTALL)
LAYERS = ("schemas", "udfs", "jobs")
Lines = Iterator[str]


def main(arguments: list[str]) -> int:
    is_stale = False
    for name in PAGES:
        path = DOCS / f"{name}.md"
        written = path.read_text(encoding="utf-8")
        if written == (text := page(name, written)):
            continue
        if "--check" in arguments:
            sys.stderr.write(f"{path} is not what the declarations say; run: python .ci/docs.py\n")
            is_stale = True
        else:
            path.write_text(text, encoding="utf-8")
    return int(is_stale)


def page(name: str, written: str) -> str:
    """The page as it is written, with the parts between marks made anew."""
    parts = iter(PAGES[name])

    def part(marks: re.Match[str]) -> str:
        text = "\n".join(next(parts)()).strip("\n")
        return f"{marks[1]}\n{text}\n\n{marks[2]}"

    text = PART.sub(part, written)
    if next(parts, None) is not None:
        sys.exit(f"docs/{name}.md: has fewer parts between marks than are generated for it")
    return text


def table(head: str, rows: Iterable[Iterable[str]]) -> Lines:
    """`head`: the names of its columns, between bars."""
    yield from (f"| {head} |", "|---" * (head.count(" | ") + 1) + "|")
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
    yield ""


# Records.
def type_name(kind: FieldType) -> str:
    match kind:
        case Array(of):
            return f"[]{type_name(of)}"
        case Struct(name, _):
            return name
    return str(kind.value)


def field_rows(fields: Iterable[Field], inside: str = "") -> Iterator[tuple[str, ...]]:
    for field in fields:
        versions = f"{field.first}+" if field.last is None else f"{field.first} to {field.last}"
        yield (
            f"`{inside}{field.name}`",
            type_name(field.type),
            str(field.first) if field.first == field.last else versions,
            "yes" if field.nullable else "",
            "" if field.tag is None else str(field.tag),
            "" if field.default is None else f"`{field.default}`",
            field.since,
            field.about,
        )
        inner = field.type.of if isinstance(field.type, Array) else field.type
        if isinstance(inner, Struct):
            yield from field_rows(inner.fields, f"{inside}{field.name}.")


def shape_lines(title: str, shapes: Iterable[Shape]) -> Lines:
    yield from (f"### {title}", "")
    for shape in shapes:
        versions = f"version {shape.first}" if shape.first == shape.last else f"versions {shape.first} to {shape.last}"
        flexible = "" if shape.flexible_from is None else f", flexible from version {shape.flexible_from}"
        is_declared_only = shape.releases.startswith("declared ")
        written_by = f"D{shape.releases[1:]}" if is_declared_only else f"Written by {shape.releases}"
        yield from (f"{written_by}; {versions}{flexible}. {shape.provenance}.", "")
        yield from table(
            "field | type | versions | nullable | tag | default | since | what it is", field_rows(shape.fields)
        )


def records() -> Lines:
    for record in REGISTRY.values():
        key = ", ".join(f"`{field.name}` {type_name(field.type)}" for field in record.key)
        yield from (f"## {record.number} {record.name}", "", f"{record.about} Written by: {record.written_by}.", "")
        yield from (f"Key: {key}.", "")
        yield from shape_lines(record.value.name, record.value.shapes)
    yield from ("## Control records", "")
    for message in (CONTROL_KEY, CONTROL_VALUE):
        yield from shape_lines(message.name, message.shapes)


def client_payloads() -> Lines:
    messages: tuple[Message, ...] = (
        payloads.SUBSCRIPTION, payloads.ASSIGNMENT, payloads.STREAMS_SUBSCRIPTION, payloads.STREAMS_ASSIGNMENT,
        payloads.CONNECT_SUBSCRIPTION, payloads.CONNECT_ASSIGNMENT,
    )  # fmt: skip
    for message in messages:
        yield from shape_lines(message.name, message.shapes)
    yield from shape_lines("User data of `sticky`", payloads.STICKY_FORMS)
    yield from shape_lines("User data of `cooperative-sticky`", payloads.COOPERATIVE_STICKY_FORMS)


# Tables and functions.
def shown_type(kind: ColumnType) -> str:
    """Structs by that word only: their fields have rows of their own."""
    match kind:
        case ListOf(item):
            return f"ARRAY<{shown_type(item)}>"
        case MapOf(key, value):
            return f"MAP<{shown_type(key)}, {shown_type(value)}>"
        case StructOf():
            return "STRUCT"
    return sql_type(kind)


def column_rows(columns: Iterable[Column], inside: str = "") -> Iterator[tuple[str, ...]]:
    for column in columns:
        null = "yes" if column.is_nullable and not inside else ""
        yield f"`{inside}{column.name}`", shown_type(column.type), null, column.comment
        kind = column.type
        while isinstance(kind, ListOf | MapOf):
            kind = kind.item if isinstance(kind, ListOf) else kind.value
        if isinstance(kind, StructOf):
            yield from column_rows(kind.fields, f"{inside}{column.name}.")


def tables() -> Lines:
    yield from (f"Contract version: **{CONTRACT_VERSION}**.", "", "**Tables and views**", "")
    shown = (*USER_TABLES.values(), *VIEWS.values())
    yield from (f"- [{each.name}](#{each.name}): {each.comment}" for each in shown)
    yield ""
    for each in shown:
        yield from (f"## {each.name}", "", each.comment, "")
        if isinstance(each, Table):
            yield f"- One row per {each.grain}"
            yield f"- Key: {names(each.key)}"
            yield f"- Sorted by: {names(each.order)}"
            yield f"- Written by: {'every job' if each.job == 'each' else f'`{each.job}`'}"
        else:
            yield f"- Reads: {names(each.reads) or 'no table'}"
        yield ""
        yield from table("column | type | null | what it is", column_rows(each.columns))


def names(columns: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in columns)


def renames() -> Lines:
    rows = ((f"`{each.old}`", f"`{each.new}`" if each.new else "gone", each.kind, str(each.since), names(each.where))
            for each in RENAMES)  # fmt: skip
    yield from table("old name | new name | kind | since version | where", rows)
    # Columns that have the old name of others, and keep it.
    for old in dict.fromkeys(each.old for each in RENAMES):
        shown = {**USER_TABLES, **VIEWS}.items()
        if kept := [name for name, each in shown if old in {column.name for column in each.columns}]:
            yield f"- `{old}` is still the name of a column of {names(kept)}: there it is an offset of data."


def functions() -> Lines:
    for function in SCALAR_FUNCTIONS.values():
        yield from (f"## {function.name}", "", function.comment, "")
        result = Column("result", function.result, function.result_comment)
        rows = column_rows([*function.arguments, result])
        # The result itself has no name to type.
        shown = ((name.replace("`result`", "result"), kind, about) for name, kind, _, about in rows)
        yield from table("argument or result | type | what it is", shown)


# Commands, settings, outcomes.
# Commands that do two things.
USAGES = {
    "status": ("groupscope status [flags]", "groupscope status GROUP [flags]"),
    "gate": ("groupscope gate [flags]",
             "groupscope gate --group GROUP --span TOPIC:PARTITION:FROM:TO[:ROWS] --result FILE [flags]"),
    "mark": ("groupscope mark TEXT [--at T] [--group REGEX] [flags]", "groupscope mark --list [flags]",
             "groupscope mark --remove N [flags]"),
}  # fmt: skip
# What explains a command at length.
MORE = {
    "status": "guides/on_call.md#what-is-wrong-now", "audit": "operations.md", "ingest": "inputs.md",
    "replay": "history.md", "assignments": "assignors.md#how-the-audit-decides", "lag": "inputs.md#snapshots",
    "gate": "operations.md#the-gate", "report": "operations.md#the-report", "capture": "inputs.md#snapshots",
    "describe": "history.md#as-kafka-consumer-groups-shows-it",
    "rebalances": "history.md#what-happened-to-a-group-and-when",
    "why": "history.md#what-happened-to-a-group-and-when", "mark": "history.md#what-followed-a-deployment",
    "offsets": "guides/on_call.md#put-a-group-back", "whatif": "assignors.md#what-another-assignor-would-give",
    "assign": "assignors.md#inputs-of-an-assignor", "sql": "sql.md", "dump": "inputs.md#dump",
}  # fmt: skip


def commands() -> Lines:
    yield from (f"- [{name}](#{name}): {plain(command.summary)}" for name, command in COMMANDS.items())
    yield ""
    for name, command in COMMANDS.items():
        parser = argparse.ArgumentParser(prog=f"groupscope {name}", add_help=False)
        add_arguments(parser, name)
        words = [each for each in parser._actions if not each.option_strings]
        flags = [each for each in parser._actions if each.option_strings]
        yield from (f"## {name}", "", f"{plain(command.summary[0].upper() + command.summary[1:])}.", "")
        if name in MORE:
            yield from (f"More: [{MORE[name].partition('#')[0]}]({MORE[name]}).", "")
        usage = ["groupscope", name, *map(word_of, words), *(flag_text(each) for each in flags if each.required)]
        yield from ("```text", *USAGES.get(name, [" ".join([*usage, "[flags]"] if flags else usage)]), "```", "")
        for head, rows in (
            ("argument", [(word_of(each), each) for each in words if each.help]),
            ("flag", [(flag_text(each), each) for each in flags]),
        ):
            if rows:
                yield from table(f"{head} | what it does", ((f"`{text}`", help_of(each)) for text, each in rows))
        if Kind.NAMES in command.kind:
            yield from (f"Put `--` before a name that begins with a hyphen: `groupscope {name} -- -name`.", "")


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
    return plain((action.help or "") % {**vars(action), "prog": "groupscope"})


def plain(text: str) -> str:
    """Text that Markdown shows as it is, flags as code."""
    shielded = re.sub(r"([\\*<\[\]]|__)", r"\\\1", text)
    return re.sub(r"(?<![\w`-])(--[a-z][a-z-]*)", r"`\1`", shielded)


def settings() -> Lines:
    for section in dataclasses.fields(Settings):
        yield from (f"## {section.name}", "", f"```toml\n{heading(section)}\n```", "")
        if "about" in section.metadata:
            yield from (section.metadata["about"], "")
        yield from table(
            "key | default | unit | what it does", map(setting_cells, dataclasses.fields(kind_of(section)))
        )


def setting_cells(key: Any) -> tuple[str, ...]:
    default = key.metadata.get("default") or toml_value(key.default)
    return f"`{key.name}`", f"`{default}`", key.metadata["unit"], key.metadata["comment"]


def exit_codes() -> Lines:
    return table("code | meaning", ((str(code.value), code.meaning) for code in ExitCode))


def findings() -> Lines:
    rows = ((f"`{kind.value}`", kind.severity.value, kind.heading, kind.meaning) for kind in FindingKind)
    return table("kind | severity | in few words | meaning", rows)


def metrics() -> Lines:
    files = our_metrics().values()
    yield from (f"- [{each.table}](#{each.table}): {each.about}" for each in files)
    yield ""
    for each in files:
        rules = {f"{FAILING}{rule}": f"`{condition}`" for rule, condition in each.rules.items()}
        rows = ((f"`{name}`", meaning, rules.get(name, "")) for name, meaning in each.metrics.items())
        yield from (f"## {each.table}", "", each.about, "", *table("metric | what it is | condition", rows))


def exported() -> Lines:
    rows = ((f"`{each.value}`", each.meaning, names(("cluster", *each.labels))) for each in ExportedMetric)
    return table("metric | what it is | labels", rows)


# The project.
def folders() -> Lines:
    packages = [each for layer in LAYERS for each in sorted(Path(layer).rglob("__init__.py"))]
    docstrings = (ast.get_docstring(ast.parse(each.read_text(encoding="utf-8"))) or "" for each in packages)
    rows = ((f"`{each.parent}/`", " ".join(text.split())) for each, text in zip(packages, docstrings, strict=True))
    return table("folder | what is in it", rows)


def licences() -> Lines:
    # It is beside this file.
    sys.path.append(str(Path(__file__).parent))
    import supply

    for title, rows in supply.licences().items():
        yield from (f"## {title}", "", *table("name | version | licence", rows))


PAGES: dict[str, tuple[Callable[[], Lines], ...]] = {
    "records": (records, client_payloads),
    "tables": (tables,),
    "renames": (renames,),
    "functions": (functions,),
    "metrics": (metrics, exported),
    "commands": (commands,),
    "settings": (settings,),
    "exit_codes": (exit_codes,),
    "findings": (findings,),
    "architecture": (folders,),
    "licences": (licences,),
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Faults that nobody thought of: small changes of an area's code, drawn by a seed.

In Python these are changes of its syntax tree: texts of messages, docstrings, annotations and what `raise` and `assert`
say stay as they are. In SQL they are changes of the text, where it is neither comment nor quoted."""

import ast
import copy
import random
import re
import types
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from tests.planted.planting import ROOT, Area, Fault, Refused

OPPOSITES: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
EXTREMES = {"min": "max", "minimum": "maximum", "least": "greatest"}
EXTREMES |= {there: here for here, there in EXTREMES.items()}
ORDERS = {"key", "reverse", "kind", "side"}
FILLS = {"filled", "fill_null", "get"}
OF_TYPES = {"isinstance", "issubclass", "cast", "getattr", "hasattr"}
IN_SQL = {
    "comparison": (r" (<=|>=|!=|=|<|>) ", {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "=": "!=", "!=": "="}),
    "and, or": (r"\b(AND|OR)\b", {"AND": "OR", "OR": "AND"}),
    "minimum, maximum": (r"\b(min|max|least|greatest)(?=\()", EXTREMES),
    "dropped": (r"\b(NOT |LEFT |DISTINCT )", {}),
    "dropped order": (r"(, [\w.]+(?: DESC| ASC)?)(?=\s*(?:\)|$|\n\s*\)))", {}),
}  # fmt: skip


@dataclass(frozen=True)
class Change:
    kind: str
    start: int
    end: int
    new: str


def draw(area: Area, number: int, seed: str, unchanged: Sequence[dict[str, str]]) -> list[Fault]:
    """Each kind of change is equally likely, and so is each place of a kind."""
    known = {(each["file"], each["old"], each["new"]) for each in unchanged}
    by_kind: defaultdict[str, list[Fault]] = defaultdict(list)
    for path in sorted(path for pattern in area.code for path in ROOT.glob(pattern) if path.suffix in (".py", ".sql")):
        text, file = path.read_text(), str(path.relative_to(ROOT))
        for change in in_python(text) if path.suffix == ".py" else in_sql(text):
            old, new = shown(text, change)
            line = text.count("\n", 0, change.start) + 1
            if (file, old, new) not in known:
                name = f"{file}:{line}: {old}  →  {new}"
                fault = Fault(area.name, name, file, text[change.start : change.end], change.new, at=change.start)
                by_kind[change.kind].append(fault)
    chance, faults = random.Random(f"{seed} {area.name}"), []
    while by_kind and len(faults) < number:
        kind = chance.choice(sorted(by_kind))
        place = chance.randrange(len(by_kind[kind]))
        fault = by_kind[kind].pop(place)
        text = (ROOT / fault.file).read_text()
        # What does not compile, or to the same code, is no fault.
        with suppress(Refused):
            if not is_same(file=fault.file, before=text, after=fault.plant(text)):
                faults.append(fault)
        if not by_kind[kind]:
            del by_kind[kind]
    return faults


def shown(text: str, change: Change) -> tuple[str, str]:
    """The lines of the change, before and after it."""
    first, last = text.rfind("\n", 0, change.start) + 1, text.find("\n", change.end)
    last = len(text) if last < 0 else last
    new = text[first : change.start] + change.new + text[change.end : last]
    return " ".join(text[first:last].split()), " ".join(new.split())


def in_python(text: str) -> Iterator[Change]:
    raw = text.encode()
    starts = [0]
    for row in raw.splitlines(keepends=True):
        starts.append(starts[-1] + len(row))
    for kind, node, new in changed_nodes(ast.parse(text)):
        start, end = (
            len(raw[: starts[line - 1] + column].decode())
            for line, column in ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
        )
        yield Change(kind, start, end, ast.unparse(new))


def is_same(file: str, before: str, after: str) -> bool:
    return file.endswith(".py") and are_equal(compile(before, "", "exec"), compile(after, "", "exec"))


def are_equal(one: types.CodeType, other: types.CodeType) -> bool:
    """Lines, columns and names aside."""
    mine, theirs = one.co_consts, other.co_consts
    if (one.co_code, one.co_names, len(mine)) != (other.co_code, other.co_names, len(theirs)):
        return False
    pairs = list(zip(mine, theirs, strict=True))
    inner = [pair for pair in pairs if all(isinstance(each, types.CodeType) for each in pair)]
    return all(are_equal(*pair) for pair in inner) and repr([pair[0] for pair in pairs if pair not in inner]) == repr(
        [pair[1] for pair in pairs if pair not in inner]
    )


def computing(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes that compute something."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_comment"):
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.AST) and not isinstance(
                each, (ast.JoinedStr, ast.Raise, ast.Assert, ast.ImportFrom)
            ):
                yield from computing(each)


def changed_nodes(tree: ast.AST) -> Iterator[tuple[str, ast.AST, ast.AST]]:
    for node in computing(tree):
        match node:
            case ast.Compare(ops=[op]) if type(op) in OPPOSITES:
                yield "comparison", node, ast.Compare(node.left, [OPPOSITES[type(op)]()], node.comparators)
            case ast.Constant(value=int(value)) if not isinstance(value, bool):
                yield "number", node, ast.Constant(value + 1)
                if value:
                    yield "number", node, ast.Constant(value - 1)
            case ast.UnaryOp(op=ast.Not() | ast.Invert()):
                yield "dropped not", node, node.operand
            case ast.UnaryOp(op=ast.USub()):
                yield "dropped sign", node, node.operand
            case ast.BoolOp(op=op) | ast.BinOp(op=(ast.BitAnd() | ast.BitOr()) as op):
                yield "and, or", node, altered(node, op=OPPOSITES[type(op)]())
            case ast.Call():
                yield from changed_calls(node)
            case ast.Lambda(body=ast.Tuple(elts=[*most, _])) if most:
                yield "dropped order", node, altered(node, body=ast.Tuple(most, ast.Load()))
            case _:
                pass


def changed_calls(node: ast.Call) -> Iterator[tuple[str, ast.AST, ast.AST]]:
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    if name in EXTREMES:
        other = EXTREMES[name]
        function = altered(node.func, **{"attr" if isinstance(node.func, ast.Attribute) else "id": other})
        yield "minimum, maximum", node, altered(node, func=function)
    match node.args:
        case [first, second, *rest] if not any(isinstance(each, ast.Starred) for each in (first, second)):
            if name not in OF_TYPES and ast.dump(first) != ast.dump(second):
                yield "swapped arguments", node, altered(node, args=[second, first, *rest])
            if name in FILLS and not rest:
                is_get = name == "get" or (isinstance(node.func, ast.Attribute) and len(node.args) == 1)
                yield "removed default", node, altered(node, args=[first]) if is_get else first
        case [ast.Tuple(elts=[_, *most])] if name == "lexsort" and most:
            yield "dropped order", node, altered(node, args=[ast.Tuple(most, ast.Load())])
        case [ast.List(elts=[*most, _])] if name in ("sort_by", "order_by") and most:
            yield "dropped order", node, altered(node, args=[ast.List(most, ast.Load())])
    for keyword in node.keywords:
        if keyword.arg in ORDERS or keyword.arg == "default":
            kind = "removed default" if keyword.arg == "default" else "dropped order"
            yield kind, node, altered(node, keywords=[each for each in node.keywords if each is not keyword])


def altered(node: ast.AST, **fields: object) -> ast.AST:
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def in_sql(text: str) -> Iterator[Change]:
    # Rules of metrics are conditions in comments, after a name, a severity and kinds of findings.
    hidden = re.compile(r"'[^']*'|--(?! rule [\w ]+:)[^\n]*|-- rule [\w ]+:")
    code = hidden.sub(lambda found: "#" * len(found[0]), text)
    for kind, (pattern, others) in IN_SQL.items():
        for found in re.finditer(pattern, code, re.MULTILINE):
            if kind != "dropped order" or "ORDER BY" in code[max(code.rfind("(", 0, found.start()), 0) : found.start()]:
                yield Change(kind, *found.span(1), others.get(found[1], ""))
    for found in re.finditer(r"(?<![\w.:])\d+(?![\w.])", code):
        yield Change("number", *found.span(), str(int(found[0]) + 1))
    for found in re.finditer(r"\bcoalesce\(", code):
        end = closing(code, found.end())
        if (first := code[found.end() : end].find(",")) > 0:
            yield Change("removed default", found.start(), end + 1, text[found.end() : found.end() + first])


def closing(code: str, position: int) -> int:
    depth = 1
    for place in range(position, len(code)):
        depth += {"(": 1, ")": -1}.get(code[place], 0)
        if not depth:
            return place
    return len(code)

"""The size of the project: `make ledger` counts it and compares it with what .ci/ledger.json keeps.

    python .ci/ledger.py            prints the ledger; a difference is now minus then
    python .ci/ledger.py --keep     also keeps today's counts, for later comparisons

`lines` are as `wc -l` counts them. `statements` are those of the syntax tree: layout does not change them. `comments`
is the share of lines that have only a comment, or belong to a docstring. `called once` are functions of up to five
that exactly one place of the product names: each is either an idea with a name of its own, or a line torn out of its
caller. Files are those that git knows or would add.
"""

import ast
import io
import json
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
KEPT = Path(__file__).with_name("ledger.json")
PRODUCT = ("schemas", "udfs", "jobs")
# What is counted beside Python: where, and the suffixes.
BESIDE = {
    "SQL of the product": ("product", (".sql",)),
    "declarations (tables, records, words, suites)": ("product", (".tables", ".words", ".json", ".toml", ".txt")),
    "scripts of the report": ("product", (".js",)),
    "styles of the report": ("product", (".css",)),
    "templates of the report": ("product", (".html", ".j2")),
    "Java of the tests": ("tests", (".java",)),
    "cases, declarations and expected texts of the tests": ("tests", (".cases", ".toml", ".json", ".txt", ".sql")),
    "shell of .ci": (".ci", ("",)),
}
COLUMNS = ("files", "lines", "statements", "comment lines", "called once")
Counts = Counter[str]


def main(arguments: list[str]) -> int:
    counted = ledger(ROOT)
    sys.stdout.write(page(counted, json.loads(KEPT.read_text()) if KEPT.exists() else {}))
    if "--keep" in arguments:
        # A row a line, so that a change of one folder is one line of a commit.
        rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(counts)}" for name, counts in counted.items())
        KEPT.write_text(f"{{\n{rows}\n}}\n")
    return 0


def ledger(root: Path) -> dict[str, Counts]:
    """Counts by name: totals, then every folder down to two levels, then what is beside Python."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listed, cwd=root, capture_output=True, check=True).stdout.decode().split("\0")
    files = sorted(Path(name) for name in {*names} if name and (root / name).is_file())
    sources = {file: (root / file).read_bytes() for file in files if file.suffix == ".py"}
    trees = {file: ast.parse(source) for file, source in sources.items()}
    uses = sum((names_used(tree) for file, tree in trees.items() if area(file) == "product"), Counter())
    result: dict[str, Counts] = {name: Counter() for name in ("product", "tests", "benchmarks", ".ci")}
    for file, source in sources.items():
        counts = counts_of(source, trees[file], uses if area(file) == "product" else None)
        for name in {area(file), folder(file)}:
            result.setdefault(name, Counter()).update(counts)
    for name, (where, suffixes) in BESIDE.items():
        some = [file for file in files if area(file) == where and file.suffix in suffixes]
        result[name] = Counter(files=len(some), lines=sum((root / file).read_bytes().count(b"\n") for file in some))
    return result


def area(file: Path) -> str:
    return "product" if file.parts[0] in PRODUCT else file.parts[0]


def folder(file: Path) -> str:
    return "/".join(file.parts[: min(2, len(file.parts) - 1)])


def counts_of(source: bytes, tree: ast.Module, uses: Counter[str] | None) -> Counts:
    nodes = list(ast.walk(tree))
    counts = Counter(
        {
            "files": 1,
            "lines": source.count(b"\n"),
            "statements": sum(isinstance(node, ast.stmt) for node in nodes),
            "comment lines": num_comment_lines(source, nodes),
        }
    )
    if uses is not None:
        counts["called once"] = sum(is_short(node) and uses[node.name] == 1 for node in nodes if is_function(node))
    return counts


def num_comment_lines(source: bytes, nodes: list[ast.AST]) -> int:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    lines: set[int] = set()
    for node in nodes:
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            text = node.body[0]
            lines.update(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    for token in tokenize.tokenize(io.BytesIO(source).readline):
        if token.type == tokenize.COMMENT and token.line[: token.start[1]].isspace() | (token.start[1] == 0):
            lines.add(token.start[0])
    return len(lines)


def is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def is_short(node: ast.FunctionDef) -> bool:
    """Of up to five lines, its own `def` included; a decorated one may be called by what decorates it."""
    return (node.end_lineno or node.lineno) - node.lineno < 5 and not node.decorator_list


def names_used(tree: ast.Module) -> Counter[str]:
    """How often each name is used; an import alone uses nothing."""
    uses: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            uses[node.id] += 1
        elif isinstance(node, ast.Attribute):
            uses[node.attr] += 1
    return uses


def page(counted: dict[str, Counts], kept: dict[str, dict[str, int]]) -> str:
    rows = [("", *COLUMNS[:3], "comments", "called once", "lines then", "difference")]
    for name in [*counted, *(gone for gone in kept if gone not in counted)]:
        now, then = counted.get(name, Counter()), Counter(kept.get(name, {}))
        share = f"{now['comment lines'] / now['lines']:.0%}" if now["statements"] else ""
        numbers = [f"{now[column]:,}" if now[column] else "" for column in ("files", "lines", "statements")]
        once = f"{now['called once']:,}" if now["called once"] else ""
        change = now["lines"] - then["lines"]
        rows.append((name, *numbers, share, once, f"{then['lines']:,}", f"{change:+,}" if change else ""))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) if place == 0 else cell.rjust(width) for place, (cell, width) in enumerate(each))
        for each in (list(zip(row, widths, strict=True)) for row in rows)
    )
    return "".join(f"{line.rstrip()}\n" for line in lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

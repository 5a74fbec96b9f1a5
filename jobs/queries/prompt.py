"""The SQL prompt on a terminal: a statement ends with a semicolon, a command of the prompt begins with a backslash.

Statements are kept in `${GROUPSCOPE_CACHE:-~/.cache/groupscope}/sql_history`, which only its owner can read.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from jobs.output.failure import go_on, report_error, say
from jobs.queries.listings import columns_of, names
from jobs.queries.results import Engine, print_answer, print_answers
from jobs.spark.cache_folder import cache_folder

FIRST, NEXT = "groupscope> ", "        ...> "
LIST, QUIT = ("\\d", "\\dt", ".tables"), ("\\q", ".quit", "quit", "exit")
HELP = """\
Statements end with a semicolon and may take several lines.
\\d        tables, views and functions; .tables does the same
\\d NAME   columns of one, with their comments
\\q        ends this, as Ctrl-D does
Ctrl-C    drops what was typed, or ends the statement that runs"""
MOST_LINES = 10_000


def converse(engine: Engine, format: str, *, is_wide: bool) -> None:
    """Until the end of input. A query that fails prints its error, and the next line is read."""
    sys.stderr.write("End SQL with a semicolon; \\? lists the other commands.\n")
    with history():
        for text in typed_statements(engine):
            if text in QUIT:
                return
            try:
                respond(engine, text, format, is_wide=is_wide)
            except KeyboardInterrupt:
                go_on()
                say("interrupted")
            except BrokenPipeError:
                raise
            except Exception as error:
                report_error(error)


def typed_statements(engine: Engine) -> Iterator[str]:
    """Commands of one line, and statements of one or more."""
    lines: list[str] = []
    while True:
        try:
            lines.append(read_line(NEXT if lines else FIRST))
        except KeyboardInterrupt:
            go_on()
            lines.clear()
            sys.stderr.write("\n")
            continue
        except EOFError:
            sys.stderr.write("\n")
            return
        text = "\n".join(lines).strip()
        is_command = len(lines) == 1 and (text.startswith(("\\", ".")) or text in QUIT)
        if not text or is_command or engine.is_whole(text):
            lines.clear()
        if not lines and text:
            yield text


def read_line(prompt: str) -> str:
    """What answers are written to may be no terminal, and then takes no prompt."""
    if sys.stdout.isatty():
        return input(prompt)
    sys.stderr.write(prompt)
    sys.stderr.flush()
    return input()


def respond(engine: Engine, text: str, format: str, *, is_wide: bool) -> None:
    command, _, name = text.partition(" ")
    if not text.startswith(("\\", ".")):
        print_answers(engine, engine.statements(text), format, is_wide=is_wide)
    elif command in LIST:
        print_answer(columns_of(name.strip(" ;")) if name else names(), format, is_wide=is_wide)
    else:
        sys.stderr.write(f"{HELP}\n")


@contextmanager
def history() -> Iterator[None]:
    """Lines of earlier times are at the arrow keys. A folder that cannot be written to only forgets them."""
    try:
        import readline
    except ImportError:  # Python may be built without it
        yield
        return
    path = cache_folder() / "sql_history"
    readline.set_auto_history(True)
    readline.set_history_length(MOST_LINES)
    with suppress(OSError):
        readline.read_history_file(path)
    try:
        yield
    finally:
        with suppress(OSError):
            make_private(path)
            readline.write_history_file(path)
            path.chmod(0o600)


def make_private(path: Path) -> None:
    """Before anything is written to it: nobody else may read names of groups, at any umask."""
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    path.chmod(0o600)

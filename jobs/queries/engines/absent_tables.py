"""Tables that are not there yet: they have no rows, which must not be taken for an answer."""

from collections.abc import Collection, Sequence
from itertools import groupby

from jobs.output.failure import say
from jobs.queries.definitions.views import named_in
from schemas.tables import BESIDE_RUNS, USER_TABLES
from udfs.sentences.name_lists import list_names

MOST_NAMED = 3


def say_absent(statements: Sequence[str], there: Collection[str]) -> None:
    """Of those that the statements name, by themselves or by views. `there`: tables that some run has written."""
    absent = {name for name in named_in(statements).tables if name not in there and name not in BESIDE_RUNS}
    in_order = [table for table in USER_TABLES.values() if table.name in absent]
    for job, tables in groupby(in_order, key=lambda table: table.job):
        names = [table.name for table in tables]
        are, them = ("does", "it") if len(names) == 1 else ("do", "them")
        say(f"{list_names(names, MOST_NAMED)} {are} not exist yet; run `groupscope {job}` to write {them}")

"""The names that SQL can use, from the schemas: the same before and after the tables exist."""

from jobs.output.failure import misuse
from jobs.queries.results import QueryResult
from schemas.renames import renamed
from schemas.tables import FUNCTIONS, SCALAR_FUNCTIONS, USER_TABLES, Column, Function, ScalarFunction, sql_type
from schemas.views import VIEWS


def names() -> QueryResult:
    rows = [
        *((table.name, "table", table.comment) for table in USER_TABLES.values()),
        *((view.name, "view", view.comment) for view in VIEWS.values()),
        *((call(function), "function", function.comment) for function in FUNCTIONS.values()),
        *((scalar_call(function), "function", function.comment) for function in SCALAR_FUNCTIONS.values()),
    ]
    return QueryResult(("name", "kind", "comment"), rows)


def call(function: Function) -> str:
    arguments = ", ".join(column.name for column in function.arguments)
    return f"{function.name}({arguments}, time[, cluster])"


def scalar_call(function: ScalarFunction) -> str:
    return f"{function.name}({', '.join(column.name for column in function.arguments)})"


def columns_of(name: str) -> QueryResult:
    rows = [(column.name, sql_type(column.type), column.comment) for column in columns_by_name(name.lower())]
    return QueryResult(("column", "type", "comment"), rows)


def columns_by_name(name: str) -> tuple[Column, ...]:
    for known in (USER_TABLES, VIEWS, FUNCTIONS):
        if name in known:
            return known[name].columns
    if name in SCALAR_FUNCTIONS:
        return SCALAR_FUNCTIONS[name].arguments
    since = renamed(name)
    raise misuse(f"{name}: no such table, view or function{since and f', {since}'}; \\d lists them")

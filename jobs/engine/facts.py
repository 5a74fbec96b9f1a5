"""Converts the facts of a task's result to JSON text and back: dataclasses, named tuples and collections of plain
values, by their declared types. A class with other state defines `to_plain` and `from_plain`."""

import base64
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

PLAIN = (int, float, str, bool, NoneType)


def text_of(value: Any, leave_out: tuple[str, ...] = ()) -> str:
    values = plain(value)
    return json.dumps({name: each for name, each in values.items() if name not in leave_out})


def plain(value: Any) -> Any:
    if hasattr(value, "to_plain"):
        return value.to_plain()
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, Mapping):
        # Keys of JSON objects are text.
        return [[plain(key), plain(each)] for key, each in value.items()]
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in value]
    if isinstance(value, PLAIN):
        return value
    # NumPy numbers.
    return value.item()


def restore(kind: Any, value: Any) -> Any:
    """Converts back what `plain` made, by the declared type."""
    if hasattr(kind, "from_plain"):
        return kind.from_plain(value)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return None if value is None else restore(next(each for each in arguments if each is not NoneType), value)
    if is_dataclass(origin or kind):
        hints = field_types(origin or kind)
        known = dict(zip(getattr(origin, "__parameters__", ()), arguments, strict=True))
        return (origin or kind)(
            **{name: restore(resolve_type(hints[name], known), each) for name, each in value.items()}
        )
    if origin in COLLECTIONS:
        return COLLECTIONS[origin](arguments, value)
    if kind is bytes:
        return base64.b64decode(value)
    if isinstance(kind, type) and hasattr(kind, "_fields"):
        types = get_type_hints(kind)
        return kind(*(restore(types[name], each) for name, each in zip(kind._fields, value, strict=True)))
    return kind(value) if isinstance(kind, type) and issubclass(kind, Enum) else value


@cache
def field_types(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)


def resolve_type(kind: Any, known: Mapping[Any, Any]) -> Any:
    if isinstance(kind, TypeVar):
        return known[kind]
    if known and any(isinstance(each, TypeVar) for each in get_args(kind)):
        return get_origin(kind)[tuple(resolve_type(each, known) for each in get_args(kind))]
    return kind


def restore_list(arguments: tuple[Any, ...], value: Any) -> list[Any]:
    return [restore(arguments[0], each) for each in value]


def restore_tuple(arguments: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    if arguments[-1] is Ellipsis:
        return tuple(restore(arguments[0], each) for each in value)
    return tuple(restore(kind, each) for kind, each in zip(arguments, value, strict=True))


def restore_dict(arguments: tuple[Any, ...], value: Any) -> dict[Any, Any]:
    return {restore(arguments[0], key): restore(arguments[1], each) for key, each in value}


COLLECTIONS: Mapping[Any, Callable[[tuple[Any, ...], Any], Any]] = {
    list: restore_list,
    tuple: restore_tuple,
    dict: restore_dict,
    set: lambda arguments, value: set(restore_list(arguments, value)),
    Counter: lambda arguments, value: Counter(restore_dict((*arguments, int), value)),
}

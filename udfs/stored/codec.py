"""Stores values as plain JSON values, and reads them again, by their declared types: dataclasses as objects of their
fields, named tuples as lists, arrays and collections.

What is stored stays readable if a field is added that has a default, in named tuples after the others, and that holds
no objects that are stored once. For any other change, whoever stores the values counts a format number up and converts
the form before.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np

Convert = Callable[[Any], Any]
# JSON knows them.
PLAIN = (int, float, str, bool, NoneType, Any)
SAME_AS = "same_as"


class Form(NamedTuple):
    """Both ways of a type. None: its values are plain as they are."""

    write: Convert | None = None
    read: Convert | None = None


AS_IT_IS = Form()


class Codec:
    """`stored`: the names of the fields to store, for classes that do not store all; the others get their defaults, or
    None. `forms`: of types that declarations do not describe. `once`: types whose objects are stored where they come
    first; after that their number is. So an object that is in several places is one object again."""

    def __init__(
        self,
        stored: Mapping[type, Sequence[str]] | None = None,
        forms: Mapping[Any, Form] | None = None,
        once: Collection[Any] = (),
    ) -> None:
        self.stored = stored or {}
        self.once = once
        self.forms: dict[Any, Form] = dict(forms or {})
        self.wrapped: dict[Any, Form] = {}
        # The objects of one value that are stored once: their numbers by identity, and the objects by number.
        self.numbers: dict[int, int] = {}
        self.objects: list[Any] = []

    def plain(self, kind: Any, value: Any) -> Any:
        self.numbers = {}
        return writes(self.form(kind), value)

    def value(self, kind: Any, plain: Any) -> Any:
        self.objects = []
        return reads(self.form(kind), plain)

    def form(self, kind: Any) -> Form:
        if kind not in self.wrapped:
            form = self.forms[kind] if kind in self.forms else self.declared_form(kind)
            self.wrapped[kind] = self.once_form(form) if kind in self.once else form
        return self.wrapped[kind]

    def once_form(self, form: Form) -> Form:
        def write(value: Any) -> Any:
            number = self.numbers.get(id(value))
            if number is not None:
                return {SAME_AS: number}
            plain = writes(form, value)
            self.numbers[id(value)] = len(self.numbers)
            return plain

        def read(plain: Any) -> Any:
            if isinstance(plain, dict) and SAME_AS in plain:
                return self.objects[plain[SAME_AS]]
            value = reads(form, plain)
            self.objects.append(value)
            return value

        return Form(write, read)

    def declared_form(self, kind: Any) -> Form:
        origin, arguments = get_origin(kind), get_args(kind)
        if origin in (Union, UnionType):
            return self.optional(arguments)
        if origin is np.ndarray:
            (dtype,) = get_args(arguments[1])
            return Form(np.ndarray.tolist, lambda plain: np.array(plain, dtype))
        if is_dataclass(kind):
            return self.fields_form(kind, [field.name for field in fields(kind)])
        if isinstance(kind, type) and hasattr(kind, "_fields"):
            return self.tuple_form(kind, kind._fields)
        if origin is tuple and arguments[-1] is not Ellipsis:
            return row_form([self.form(each) for each in arguments], tuple)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            key, of = map(self.form, arguments)
            return mapping_form(key, of, is_object=arguments[0] is str)
        if isinstance(origin, type) and issubclass(origin, Iterable):
            make = tuple if origin is tuple else set if issubclass(origin, Set) else list
            return list_form(self.form(arguments[0]), make)
        if isinstance(kind, type) and issubclass(kind, Enum):
            return Form(lambda value: value.value, kind)
        if kind not in PLAIN:
            raise TypeError(f"{kind}: has no stored form")
        return AS_IT_IS

    def optional(self, kinds: Sequence[Any]) -> Form:
        form, *others = {self.form(each) for each in kinds if each is not NoneType}
        if others:
            raise TypeError(f"{kinds}: their stored forms do not say which of them it is")
        return Form(*(None if way is None else unless_none(way) for way in form))

    def fields_form(self, kind: Any, names: Sequence[str]) -> Form:
        hints = get_type_hints(kind)
        forms = {name: self.form(hints[name]) for name in self.stored.get(kind, names)}

        def write(value: Any) -> Any:
            return {name: writes(form, getattr(value, name)) for name, form in forms.items()}

        def read(plain: Mapping[str, Any]) -> Any:
            # A newer release may have stored fields more.
            return kind(**{name: reads(forms[name], each) for name, each in plain.items() if name in forms})

        return Form(write, read)

    def tuple_form(self, kind: Any, names: Sequence[str]) -> Form:
        hints, stored = get_type_hints(kind), self.stored.get(kind, names)
        others = {name: kind._field_defaults.get(name) for name in names if name not in stored}
        forms = [self.form(hints[name]) for name in stored]

        def write(value: Any) -> Any:
            return [writes(form, getattr(value, name)) for name, form in zip(stored, forms, strict=True)]

        def read(plain: Sequence[Any]) -> Any:
            # Lists that older releases stored may be shorter.
            known = {name: reads(form, each) for name, form, each in zip(stored, forms, plain, strict=False)}
            return kind(**known, **others)

        return Form(write, read)


def writes(form: Form, value: Any) -> Any:
    return value if form.write is None else form.write(value)


def reads(form: Form, plain: Any) -> Any:
    return plain if form.read is None else form.read(plain)


def unless_none(way: Convert) -> Convert:
    return lambda value: None if value is None else way(value)


def list_form(of: Form, make: Callable[[Iterable[Any]], Any]) -> Form:
    write, read = of
    if make is set:
        return Form(lambda value: sorted(writes(of, each) for each in value), lambda plain: {*map(read or same, plain)})
    return Form(
        None if write is None else lambda value: [*map(write, value)],
        make if read is None else lambda plain: make(map(read, plain)),
    )


def same(value: Any) -> Any:
    return value


def row_form(forms: Sequence[Form], make: Callable[[Iterable[Any]], Any]) -> Form:
    return Form(
        lambda value: [writes(form, each) for form, each in zip(forms, value, strict=True)],
        lambda plain: make(reads(form, each) for form, each in zip(forms, plain, strict=True)),
    )


def mapping_form(key: Form, of: Form, is_object: bool) -> Form:
    """Keys of JSON objects are text: other mappings are lists of pairs. Both keep their order."""
    if is_object:
        return Form(
            None if of.write is None else lambda value: {each: writes(of, own) for each, own in value.items()},
            lambda plain: {each: reads(of, own) for each, own in plain.items()},
        )
    return Form(
        lambda value: [[writes(key, each), writes(of, own)] for each, own in value.items()],
        lambda plain: {reads(key, each): reads(of, own) for each, own in plain},
    )

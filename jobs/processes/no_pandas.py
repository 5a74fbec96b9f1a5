"""Keeps pandas out of processes that do not need it, and other libraries out of imports that work without them."""

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType


class Absent:
    """Makes a library look as if it were not installed. A finder of `sys.meta_path`, without its base class: that one
    would load seven milliseconds of modules."""

    def __init__(self, name: str) -> None:
        self.name = name

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        if fullname == self.name:
            raise ModuleNotFoundError(fullname)


# pyarrow imports it with its first array: half a second and 40 MB for nothing.
NO_PANDAS = Absent("pandas")


def keep_pandas_out() -> None:
    """For the whole process, so only if a command has its own process."""
    sys.meta_path.insert(0, NO_PANDAS)


def let_pandas_in() -> None:
    """Spark and Great Expectations need it."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not NO_PANDAS]


def put_off(name: str) -> None:
    """Delays the import of a module that others import, until it is used. Its package is imported."""
    spec = None if name in sys.modules else importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        return
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    package, _, child = name.rpartition(".")
    if package:
        setattr(sys.modules[package], child, module)


@contextmanager
def kept_out(*names: str) -> Iterator[None]:
    finders = [Absent(name) for name in names]
    sys.meta_path[:0] = finders
    try:
        yield
    finally:
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder not in finders]


@contextmanager
def left_empty(name: str) -> Iterator[None]:
    """For imports that fail without the library, but use nothing of it."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = ModuleType(name)
    try:
        yield
    finally:
        del sys.modules[name]

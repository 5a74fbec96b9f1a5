"""Keeps the machine code of compiled loops (udfs/arrays/compiled.py) in the cache folder: each loop is compiled once a
host, by the first process that needs it, for all checkouts and zips that hold it.

    python -m jobs.spark.compiled_loops         compiles all that are missing: set-up

numba's own cache goes by the path and the time of a source file. So it would compile again for each checkout, and would
not see that a step or a number in another file has changed.
"""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

from jobs.output.failure import say
from jobs.processes.no_pandas import kept_out
from jobs.processes.processors import cores
from jobs.spark.cache_folder import build_once, cache_folder
from udfs.arrays.compiled import OF_STEPS, Code, Loop

FOLDER = "compiled_loops"
KERNELS = ".kernels"
# What decides over machine code, besides the loop itself.
PACKAGES = ("numba", "llvmlite", "numpy", "google-crc32c")
SETTINGS = "NUMBA_"
# Its functions are described by its version.
LIBRARIES = frozenset({"numpy", "math"})
UNUSED_SECONDS = 30 * 86_400


def keep_compiled_loops() -> None:
    """Takes the loops that this process calls from now on from the cache folder."""
    Loop.compile = staticmethod(kept)


def load_compiled_loops() -> None:
    """Loads the loops of all imported modules now, before processes are forked that need them."""
    keep_compiled_loops()
    for loop in Loop.ALL:
        _ = loop.code


def kept(loop: Loop) -> Code:
    try:
        folder = build_once(folder_of(loop), partial(build, loop))
        with suppress(OSError):
            os.utime(folder)
        code = loaded_or_removed(loop, folder)
    except (OSError, RuntimeError) as error:
        # A RuntimeError: this user has no home folder.
        say_once(f"compiled loops cannot be kept, each process compiles its own: {error} (GROUPSCOPE_CACHE: a folder)")
        code = loop.compiled()
    spare_the_collector()
    return code


@cache
def spare_the_collector() -> None:
    """The compiler adds 30,000 objects that live as long as the process, to 40,000 that were there. Python's collector
    would look at all of them again and again."""
    gc.freeze()


@cache
def say_once(line: str) -> None:
    say(line)


def folder_of(loop: Loop) -> Path:
    return cache_folder() / FOLDER / f"{loop.name}-{digest(loop)}"


def build(loop: Loop, folder: Path) -> None:
    loaded(loop, folder)
    remove_unused(cache_folder() / FOLDER)


def loaded_or_removed(loop: Loop, folder: Path) -> Code:
    import shutil
    from pickle import PickleError

    try:
        return loaded(loop, folder)
    except (EOFError, PickleError):
        # The machine stopped before the files were on the disk.
        shutil.rmtree(folder)
        return loop.compiled()


# numba looks for SciPy and its linear algebra, which no loop uses: half of the time to load one. And it loads a reader
# of YAML for a file of settings that the folder's name would not know.
@kept_out("scipy", "yaml")
def loaded(loop: Loop, folder: Path) -> Code:
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
    from numba.core.runtime.nrt import rtsys

    class InFolder(_CacheLocator):
        """The name of the folder says everything, so nothing in it can be out of date."""

        def get_cache_path(self) -> str:
            return str(folder)

        def get_source_stamp(self) -> str:
            return ""

        def get_disambiguator(self) -> str:
            return ""

        @classmethod
        def from_function(cls, py_func: Code, py_file: str) -> "InFolder":
            return cls()

    class Files(CompileResultCacheImpl):
        _locator_classes = [InFolder]  # type: ignore[list-item]  # noqa: RUF012

    class Kept(FunctionCache):
        _impl_class = Files

        def load_overload(self, sig: object, target_context: object) -> object:
            # All that machine code calls. numba would first load everything that it can compile: most of the time.
            rtsys.initialize(target_context)
            return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]

    def prepare(dispatcher: Any) -> None:
        dispatcher._cache = Kept(loop.py_func)  # type: ignore[no-untyped-call]

    return loop.compiled(prepare)


def remove_unused(folder: Path) -> None:
    """What no process has loaded for a month: of loops that were changed since."""
    import shutil
    import time

    for each in folder.iterdir():
        with suppress(OSError):
            if each.stat().st_mtime < time.time() - UNUSED_SECONDS:
                shutil.rmtree(each) if each.is_dir() else each.unlink()


def digest(loop: Loop) -> str:
    from hashlib import sha256

    said = (machine(), settings(), OF_STEPS, loop.signatures, *described(loop, set()))
    return sha256(repr(said).encode()).hexdigest()[:24]


@cache
def machine() -> tuple[object, ...]:
    from importlib.metadata import version

    from llvmlite.binding import get_host_cpu_features, get_host_cpu_name

    cpu = (get_host_cpu_name(), sorted(get_host_cpu_features().items()))
    return (sys.version, *map(version, PACKAGES), cpu)


def settings() -> list[tuple[str, str]]:
    """Such as NUMBA_BOUNDSCHECK."""
    return sorted((name, value) for name, value in os.environ.items() if name.startswith(SETTINGS))


def described(value: object, seen: set[FunctionType]) -> Iterator[object]:
    """Everything that a loop computes with: its code, and the steps and constants that it names."""
    if isinstance(value, Loop):
        if value.py_func not in seen:
            seen.add(value.py_func)
            yield repr(value.options)
            yield from described(value.py_func.__code__, seen)
            for name, named in sorted(named_by(value.py_func).items()):
                yield name
                yield from described(named, seen)
    elif isinstance(value, CodeType):
        yield from (value.co_code, value.co_names, value.co_varnames, value.co_freevars, value.co_exceptiontable)
        for constant in value.co_consts:
            yield from described(constant, seen)
    elif isinstance(value, tuple):
        yield len(value)
        for each in value:
            yield from described(each, seen)
    else:
        yield plain_value(value)


def plain_value(value: object) -> object:
    import numpy as np

    if isinstance(value, (np.ndarray, np.generic)):
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, ModuleType) and value.__name__ in LIBRARIES:
        return value.__name__
    # The second: where google_crc32c was installed without its C library. Its version is among those of PACKAGES.
    if isinstance(value, BuiltinFunctionType) or getattr(value, "__module__", "") == "google_crc32c.python":
        return value.__module__, value.__name__  # type: ignore[attr-defined]
    if value is None or isinstance(value, (int, float, str, bytes)):
        return repr(value)
    raise TypeError(f"a loop names {value!r}: only loops, numbers, texts, arrays, tuples, numpy and math are expected")


def named_by(function: FunctionType) -> dict[str, object]:
    known = function.__globals__
    return {name: known[name] for code in codes(function.__code__) for name in code.co_names if name in known}


def codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def import_all() -> None:
    import pkgutil
    from importlib import import_module

    import udfs

    for module in pkgutil.walk_packages(udfs.__path__, f"{udfs.__name__}."):
        if module.name.endswith(KERNELS):
            import_module(module.name)


def size_of(loop: Loop) -> int:
    """Of the code of a loop and its steps: the larger, the longer it takes to compile."""
    return sum(len(each) for each in described(loop, set()) if isinstance(each, bytes))


def compile_number(number: int) -> None:
    _ = Loop.ALL[number].code


def main() -> int:
    import_all()
    keep_compiled_loops()
    # Set-up that finds everything there does not load numba.
    missing = [number for number, loop in enumerate(Loop.ALL) if not folder_of(loop).is_dir()]
    if missing:
        from multiprocessing import get_context

        missing.sort(key=lambda number: size_of(Loop.ALL[number]), reverse=True)
        with get_context("fork").Pool(min(cores(), len(missing))) as pool:
            pool.map(compile_number, missing, chunksize=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Keeps pandas out of processes that do not need it."""

import sys
from importlib.abc import MetaPathFinder


class NoPandas(MetaPathFinder):
    """pyarrow imports pandas with the first array that it makes: half a second and 40 MB, for nothing."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError(fullname)


def keep_pandas_out() -> None:
    """For the whole process, so only where a command has one of its own."""
    sys.meta_path.insert(0, NoPandas())


def let_pandas_in() -> None:
    """Spark needs it after all."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, NoPandas)]

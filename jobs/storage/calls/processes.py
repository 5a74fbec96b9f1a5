"""Object stores and HDFS are reached by threads of Rust, which do not live on in a forked process: it would wait for
them for ever. So connections are made in the process that uses them, and a fork after that fails at once."""

import os
from collections.abc import Callable
from functools import lru_cache
from typing import Any

first_user: int | None = None


class ForkedError(RuntimeError):
    """A mistake of ours, which no storage makes."""


def in_this_process() -> None:
    """Before anything that needs those threads."""
    global first_user  # noqa: PLW0603, it is about the process
    first_user = first_user or os.getpid()
    if first_user != os.getpid():
        line = "this process was forked from one that had reached a storage: start workers by spawn or forkserver"
        raise ForkedError(line)


def once_a_process(connect: Callable[..., Any]) -> Callable[..., Any]:
    """The same connection for the same arguments."""
    connected = lru_cache(maxsize=8)(connect)

    def connection(*arguments: Any) -> Any:
        in_this_process()
        return connected(*arguments)

    return connection

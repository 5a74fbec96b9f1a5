"""A server on this machine that accepts every connection and never answers."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def silent_server() -> Iterator[int]:
    """Its port. The kernel accepts connections, and takes in what clients send, for a program that reads nothing."""
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listening:
        yield int(listening.getsockname()[1])

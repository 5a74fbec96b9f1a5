"""moto's server, as `python -m moto.server`, without three things that no S3 server does. It lists its own folder for
each request, under a lock, which takes a third of the time of a small request: here it is listed once. It reads a whole
object, from a file, for each range of it: here objects stay in memory as they came. And it looks whether an object is
there and then writes it, so two threads can both create it: here one object is written at a time.
"""

import threading
from typing import Any

from moto import backends
from moto.s3.models import FakeKey
from moto.s3.responses import S3Response
from moto.server import main

modules = tuple(backends.list_of_moto_modules())
backends.list_of_moto_modules = lambda: modules

written_by_moto = FakeKey.value.fset


def keep(key: FakeKey, value: bytes) -> None:
    # moto's own file remains, for checksums.
    written_by_moto(key, value)
    key.kept_value = value


FakeKey.value = property(lambda key: key.kept_value, keep)

one_at_a_time = threading.RLock()
written_whole, completed_of_parts = S3Response.put_object, S3Response._key_response_post


def write_alone(response: S3Response) -> Any:
    with one_at_a_time:
        return written_whole(response)


def complete_alone(response: S3Response, *about: Any, **more: Any) -> Any:
    with one_at_a_time:
        return completed_of_parts(response, *about, **more)


S3Response.put_object = write_alone
S3Response._key_response_post = complete_alone

if __name__ == "__main__":
    main()

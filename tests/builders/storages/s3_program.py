"""moto's server, as `python -m moto.server`, without two things that no S3 server does and that take most of its time.
moto lists its own folder for each request, under a lock, which takes a third of the time of a small request: here it is
listed once. And it reads a whole object, from a file, for each range of it: here objects stay in memory as they came.
"""

from moto import backends
from moto.s3.models import FakeKey
from moto.server import main

modules = tuple(backends.list_of_moto_modules())
backends.list_of_moto_modules = lambda: modules

written_by_moto = FakeKey.value.fset


def keep(key: FakeKey, value: bytes) -> None:
    # moto's own file remains, for checksums.
    written_by_moto(key, value)
    key.kept_value = value


FakeKey.value = property(lambda key: key.kept_value, keep)

if __name__ == "__main__":
    main()

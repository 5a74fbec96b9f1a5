"""moto's server, as `python -m moto.server`. That one lists its own folder for each request, under a lock, which takes
a third of the time of a small request: here it is listed once.
"""

from moto import backends
from moto.server import main

modules = tuple(backends.list_of_moto_modules())
backends.list_of_moto_modules = lambda: modules

if __name__ == "__main__":
    main()

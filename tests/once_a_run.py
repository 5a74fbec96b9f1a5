"""What takes long to make is made by the first test that asks, for all processes that run tests side by side."""

import os

from jobs.spark.cache_folder import build_once


def once_a_run(factory, name, build):
    """The folder that `build` filled, of this run of the tests alone."""
    return build_once(folder_of_run(factory) / "made_once" / name, build)


def folder_of_run(factory):
    own = factory.getbasetemp()
    # Processes of one run have folders beside each other.
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

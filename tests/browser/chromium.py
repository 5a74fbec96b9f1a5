"""The Chromium that tests drive, and how."""

import os

from tests.distribution import CHROMIUM, program


def chromium():
    """A failure that names the command that helps where there is none."""
    return program(CHROMIUM)


def arguments():
    """Root has no sandbox in Chromium."""
    return ["--no-sandbox"] if os.geteuid() == 0 else []

"""The Chromium that the report's tests drive: one of the PATH, or the distribution's own, installed at set-up.

    python -m tests.browser.chromium

Prints its path. As root on Debian or Ubuntu it installs the package where there is none; elsewhere it says by which
command that is done, and set-up goes on: only the tests of the report in a browser need it.
"""

import os
import platform
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PACKAGE_TOOL = "apt-get"
INSTALL = (PACKAGE_TOOL, "install", "-y", "--no-install-recommends", "chromium")
DEBIAN_LIKE = frozenset({"debian", "ubuntu"})


def on_path() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


def chromium() -> str:
    """A failure that names the command that helps where there is none."""
    found = on_path()
    if found is None:
        raise LookupError(
            f"no Chromium on the PATH ({', '.join(NAMES)}): install one, as root by `{' '.join(INSTALL)}`"
        )
    return found


def arguments() -> list[str]:
    """Root has no sandbox in Chromium."""
    return ["--no-sandbox"] if os.geteuid() == 0 else []


def can_install() -> bool:
    return os.geteuid() == 0 and shutil.which(PACKAGE_TOOL) is not None and is_debian_like()


def is_debian_like() -> bool:
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return False
    return bool(DEBIAN_LIKE & {release["ID"], *release.get("ID_LIKE", "").split()})


def install() -> None:
    """What it prints is of no interest, unless it fails."""
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in ((PACKAGE_TOOL, "update"), INSTALL):
        done = subprocess.run(command, env=quiet, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.stderr.write(f"{' '.join(command)}: {(done.stderr or done.stdout).strip().splitlines()[-1:]}\n")
            return


def main() -> int:
    if on_path() is None and can_install():
        install()
    try:
        sys.stdout.write(f"{chromium()}\n")
    except LookupError as error:
        sys.stderr.write(f"{error}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

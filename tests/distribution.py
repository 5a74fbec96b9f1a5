"""Programs that tests drive and pip does not have: those of the PATH, or the distribution's own, installed at set-up.

    python -m tests.distribution

As root on Debian or Ubuntu it installs the packages of what is missing; elsewhere it says by which command that is
done, and set-up goes on: only the tests that need the program fail, with the same line.
"""

import os
import platform
import shutil
import subprocess
import sys

PACKAGE_TOOL = "apt-get"
INSTALL = (PACKAGE_TOOL, "install", "-y", "--no-install-recommends")
DEBIAN_LIKE = frozenset({"debian", "ubuntu"})
CHROMIUM = "chromium"
# By package the names that the program may have.
PROGRAMS = {
    CHROMIUM: (CHROMIUM, "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
    "zsh": ("zsh",),
    "fish": ("fish",),
    "rsync": ("rsync",),
}


def on_path(package):
    return next(filter(None, map(shutil.which, PROGRAMS[package])), None)


def program(package):
    """A failure that names the command that helps where there is none."""
    result = on_path(package)
    if result is None:
        names = ", ".join(PROGRAMS[package])
        raise LookupError(f"none of {names} is on the PATH: install it, as root by `{' '.join((*INSTALL, package))}`")
    return result


def can_install():
    return os.geteuid() == 0 and shutil.which(PACKAGE_TOOL) is not None and is_debian_like()


def is_debian_like():
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return False
    return bool(DEBIAN_LIKE & {release["ID"], *release.get("ID_LIKE", "").split()})


def install(packages):
    """What it prints is of no interest, unless it fails."""
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in ((PACKAGE_TOOL, "update"), (*INSTALL, *packages)):
        done = subprocess.run(command, env=quiet, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.stderr.write(f"{' '.join(command)}: {(done.stderr or done.stdout).strip().splitlines()[-1:]}\n")
            return


def main():
    missing = [package for package in PROGRAMS if on_path(package) is None]
    if missing and can_install():
        install(missing)
    for package in PROGRAMS:
        try:
            sys.stdout.write(f"{program(package)}\n")
        except LookupError as error:
            sys.stderr.write(f"{error}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

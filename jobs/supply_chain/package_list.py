"""The packages that a cluster needs: what of requirements.lock is not for development, with versions and hashes.

python -m jobs.supply_chain.package_list FILE
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from jobs.supply_chain.parts import locked_packages, needed_packages


def lines() -> Iterator[str]:
    needed = needed_packages()
    for package in locked_packages():
        if package.name in needed:
            hashes = (f"    --hash=sha256:{each}" for each in package.hashes)
            yield " \\\n".join([f"{package.name}=={package.version}", *hashes])


if __name__ == "__main__":
    Path(sys.argv[1]).write_text("".join(f"{line}\n" for line in lines()))
    sys.stdout.write(f"{sys.argv[1]}\n")

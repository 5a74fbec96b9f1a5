"""The bill of materials: every locked package and every jar, in the JSON of CycloneDX 1.6.

    python -m jobs.supply_chain.bill FILE

The same tree gives the same bytes: it has no time and no serial number.
"""

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

from jobs.supply_chain.parts import ROOT, Jar, Package, jars, licence_of, locked_packages, needed_packages


def bill() -> dict[str, Any]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = needed_packages()
    own = f"pkg:generic/{project['name']}@{project['version']}"
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": project["name"],
                "version": project["version"],
                "licenses": [{"license": {"id": project["license"]}}],
            }
        },
        "components": [*(component(each, each.name in needed) for each in locked_packages()), *map(of_jar, jars())],
    }


def component(package: Package, is_needed: bool) -> dict[str, Any]:
    place = f"pkg:pypi/{package.name}@{package.version}"
    return {
        "type": "library",
        "bom-ref": place,
        "name": package.name,
        "version": package.version,
        # What development needs is not shipped.
        "scope": "required" if is_needed else "excluded",
        "licenses": [{"license": {"name": licence_of(package.name)}}],
        "purl": place,
        # Of each file that may be installed: which one it is depends on the machine.
        "properties": [{"name": "groupscope:locked:sha256", "value": each} for each in package.hashes],
    }


def of_jar(jar: Jar) -> dict[str, Any]:
    place = f"pkg:maven/{jar.organisation}/{jar.name}@{jar.version}"
    return {
        "type": "library",
        "bom-ref": place,
        "group": jar.organisation,
        "name": jar.name,
        "version": jar.version,
        "scope": "required",
        "licenses": [{"license": {"id": jar.licence}}],
        "purl": place,
    }


def text() -> str:
    return json.dumps(bill(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(text())
    sys.stdout.write(f"{sys.argv[1]}\n")

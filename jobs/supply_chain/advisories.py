"""Compares requirements.lock with published advisories, by pip-audit.

    python -m jobs.supply_chain.advisories

Exit code 0 if every package was checked and none has a known flaw, 1 if one has, 2 if some or all could not be checked:
a package about which nothing is known is not one without flaws.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from jobs.supply_chain.parts import LOCK
from udfs.sentences.counts import counted

CLEAN, FLAWS, UNCHECKED = 0, 1, 2
COMMAND = ("pip_audit", "--require-hashes", "--disable-pip", "--progress-spinner", "off", "--format", "json")


def main() -> int:
    command = [sys.executable, "-m", *COMMAND, "--requirement", str(LOCK)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        sys.stdout.write(f"Nothing was checked: no service of advisories could be asked. pip-audit says: {last}\n")
        return UNCHECKED
    lines, code = verdict(packages)
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return code


def verdict(packages: Sequence[Mapping[str, Any]]) -> tuple[list[str], int]:
    skipped = [each["name"] for each in packages if "skip_reason" in each]
    lines = [flaw_line(each, flaw) for each in packages for flaw in each.get("vulns", ())]
    if packages and len(skipped) == len(packages):
        return [
            "Nothing was checked: the service of advisories that answers here knows none of the packages."
        ], UNCHECKED
    checked = counted(len(packages) - len(skipped), "package")
    if skipped:
        lines.append(f"Not checked, since the service of advisories does not know them: {', '.join(skipped)}")
    if any(each.get("vulns") for each in packages):
        return [*lines, f"{checked} checked."], FLAWS
    return [*lines, f"{checked} checked, none has a known flaw."], UNCHECKED if skipped or not packages else CLEAN


def flaw_line(package: Mapping[str, Any], flaw: Mapping[str, Any]) -> str:
    fixed = ", ".join(flaw.get("fix_versions", ())) or "no release"
    return f"{package['name']} {package['version']}: {flaw['id']}, mended in {fixed}"


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Checks that the libraries which stand in for another MPI's export every name that installed programs import from those.

usage: imports.py NAMES LIBRARY...
"""

import pathlib
import subprocess
import sys

# Names of Open MPI's inside. Only its own tool ompi_info imports them.
OPEN_MPIS_OWN = {"ompi_info_close_components", "ompi_info_register_framework_params", "ompi_info_register_types",
                 "ompi_info_show_ompi_version"}


def exports(library):
    lines = subprocess.run(["nm", "--dynamic", "--defined-only", library], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    return {line.split()[-1] for line in lines}


def main():
    names = set(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").split())
    if len(names) < 150:
        sys.exit(f"the list has {len(names)} names only")
    exported = set().union(*map(exports, sys.argv[2:]))
    missing = sorted(names - exported - OPEN_MPIS_OWN)
    needless = sorted(OPEN_MPIS_OWN & exported)
    sys.exit("\n".join([*(f"no library exports {name}" for name in missing),
                        *(f"{name} is exported, and an exception here" for name in needless)]) or 0)


if __name__ == "__main__":
    main()

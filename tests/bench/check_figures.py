#!/usr/bin/env python3
"""Runs figures-bench on one host and checks that its JSON has every row that host_assisted_table.py reads. The
exception is idle, which finds no helper thread here and must print that.

usage: check_figures.py RMARUN FIGURES_BENCH
"""

import json
import pathlib
import subprocess
import sys
import tempfile


def expected_rows():
    rows = set()
    for call in ("put", "get"):
        for size in ("4 KiB", "64 KiB"):
            times = ("pure", "computation", "both", "call", "overlap")
            rows |= {("overlap", f"{call} contiguous {size}: {each}") for each in times}
        rows |= {("overlap", f"{call} 2-D 64 KiB: {each}") for each in times}
        layouts = ("contiguous 4 KiB", "contiguous 64 KiB", "strided 1 KiB", "strided 16 KiB", "whole 256 KiB")
        for layout in layouts:
            states = ("idle", "busy", "computation quiet", "computation disturbed")
            rows |= {("cpu-tolerance", f"{call} {layout}: {each}") for each in states}
            suite = "contiguous" if layout.startswith("contiguous") else "strided"
            rows.add((suite, f"{call} {layout}: idle"))
    rows |= {("rmw", "fetch-add"), ("rmw", "compare-swap")}
    return rows


def main(rmarun, program):
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "out.json"
        subprocess.run(
            [rmarun, "-n", "2", program, "--mode", "contiguous,strided,cpu-tolerance,overlap,rmw", "--form", "x",
             "--repetitions", "1", "--iterations", "10", "--sizes", "4K,64K", "--segments", "1K,16K", "--json", output],
            check=True, stdout=subprocess.DEVNULL, timeout=240,
        )
        report = json.loads(output.read_text())
    found = {(row["suite"], row["row"]) for row in report["rows"]}
    faults = [f"missing: {each}" for each in sorted(expected_rows() - found)]
    faults += [f"unexpected: {each}" for each in sorted(found - expected_rows())]
    for row in report["rows"]:
        # A transfer may hide no computation at all.
        least = 0 if row["unit"] == "%" else 1e-9
        if not least <= row["min"] <= row["median"] or row["form"] != "x" or row["samples"] < 1:
            faults.append(f"not sane: {row}")
    idle = subprocess.run([rmarun, "-n", "2", program, "--mode", "idle", "--idle-seconds", "1"],
                          capture_output=True, text=True, timeout=240)
    if idle.returncode != 0 or "helper thread: CPU time in 1 s" not in idle.stdout:
        faults.append(f"mode idle: {idle.returncode}, {idle.stdout}, {idle.stderr}")
    print("\n".join(faults) or f"{len(found)} rows")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

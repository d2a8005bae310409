#!/usr/bin/env python3
"""Runs messages-bench on one host and checks that its JSON has every row that the tables of bench/papers read.

usage: check_messages.py RMARUN MESSAGES_BENCH
"""

import json
import pathlib
import subprocess
import sys
import tempfile

SIZES = {"8": 8, "64K": 64 << 10}


def expected_rows():
    rows = set()
    for size in SIZES.values():
        rows |= {("latency", "one way", size), ("rate", "messages", size), ("bandwidth", "stream", size)}
        rows |= {("overhead", what, size) for what in ("send", "receive", "send and receive")}
        rows |= {("reuse", f"used {uses} times", size) for uses in (1, 3)}
    rows |= {("effective", name, 0) for name in
             ("b_eff", "b_eff at the longest", "b_eff at the longest, rings only", "b_eff of a rank")}
    return rows | {("peers", f"{count} peers", 8) for count in (1, 3)}


def main(rmarun, program):
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "out.json"
        subprocess.run(
            [rmarun, "-n", "4", program, "--mode", "latency,overhead,bandwidth,reuse,effective,peers", "--form", "x",
             "--iterations", "10", "--windows", "2", "--window", "10", "--pause", "1000", "--buffers", "1",
             "--sizes", ",".join(SIZES), "--uses", "1,3", "--peers", "1,3", "--longest", "64K", "--budget", "64K",
             "--json", output],
            check=True, stdout=subprocess.DEVNULL, timeout=240,
        )
        report = json.loads(output.read_text())
    found = {(row["suite"], row["row"], row["bytes"]) for row in report["rows"]}
    faults = [f"missing: {each}" for each in sorted(expected_rows() - found)]
    faults += [f"unexpected: {each}" for each in sorted(found - expected_rows())]
    for row in report["rows"]:
        # A receive's processor time is a difference, which may come out below zero.
        sane = row["suite"] == "overhead" or 0 < row["min"] <= row["median"]
        if not sane or row["form"] != "x" or row["samples"] < 1:
            faults.append(f"not sane: {row}")
    few = subprocess.run([rmarun, "-n", "2", program, "--mode", "peers", "--peers", "2"], capture_output=True, text=True,
                         timeout=240)
    if few.returncode == 0 or "too few ranks" not in few.stderr:
        faults.append(f"too many peers: {few.returncode}, {few.stderr}")
    print("\n".join(faults) or f"{len(found)} rows")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

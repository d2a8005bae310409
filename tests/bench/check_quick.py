#!/usr/bin/env python3
"""Runs a measuring program with --quick under rmarun and checks that its JSON has every row, each with sane numbers.

usage: check_quick.py --ranks N RMARUN PROGRAM
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile


BESIDE = ("", " bare")  # a row, and its control


def armci_rows(ranks):
    """Returns every row of armci-bench, with the number of bytes that it moves."""
    sizes = {"8 B": 8, "512 B": 512, "8 KiB": 8192, "64 KiB": 65536, "4 MiB": 4 << 20}
    small = {"4 x 8 B": 32, "16 x 64 B": 1024, "32 x 256 B": 8192}
    large = {"128 x 512 B": 65536, "1024 x 4 KiB": 4 << 20}
    rows = {}
    for call in ("put", "get", "accumulate"):
        for kind, shapes in (("", sizes), ("small strided ", small), ("strided ", large)):
            rows.update({f"armci {kind}{call} {text} {ranks} ranks": size for text, size in shapes.items()})
    names = ["fetch-and-add", "fetch-and-add contended", "lock and unlock", "lock and unlock contended", "fence",
             "put to all and fence", "malloc and free 4 KiB", "malloc and free 1 MiB",
             "malloc, touch and free 1 MiB"]
    rows.update({f"armci {name} {ranks} ranks": 0 for name in names})
    client = [f"armci small strided {what} of a client {ranks} ranks" for what in ("puts", "accumulates", "mix")]
    rows.update({f"{name}{form}": 0 for name in client for form in BESIDE})
    return rows


def rma_rows(ranks):
    """Returns every row of rma-bench, with the number of bytes that it moves."""
    sizes = {"8 B": 8, "64 B": 64, "512 B": 512, "4 KiB": 4096, "32 KiB": 32768, "64 KiB": 65536}
    sizes.update({"1 MiB": 1 << 20, "4 MiB": 4 << 20})
    rows = {}
    for call in ("put", "get"):
        rows.update({f"{call} {text}{form}": size for text, size in sizes.items() for form in BESIDE})
        rows.update({f"{call} 8 B inline": 8, f"{call} 8 B cold": 8, f"{call} 64 KiB cold": 65536})
        shapes = {"1024 x 8 B stride 64 B": 8192, "1024 x 64 B": 65536, "128 x 512 B": 65536, "16 x 4 KiB": 65536}
        rows.update({f"strided {call} {text}{form}": size for text, size in shapes.items() for form in BESIDE})
        rows.update({f"vector {call} 8192 x 8 B": 65536, f"vector {call} 1024 x 64 B": 65536})
        rows.update({f"vector {call} 128 x 512 B": 65536})
    rows.update({"rate put 8 B": 8, "rate put 256 B": 256})
    rows.update({"accumulate 1 double": 8, "accumulate 64 doubles": 512, "accumulate 8192 doubles": 65536})
    rows.update({"fetch-add alone": 0, "fetch-add alone inline": 0, f"fetch-add contended {ranks} ranks": 0})
    rows.update({f"barrier {ranks} ranks": 0})
    rows.update({f"allreduce {text} {ranks} ranks": size for text, size in (("8 B", 8), ("8 KiB", 8192))})
    rows.update({f"allreduce 1 MiB {ranks} ranks": 1 << 20})
    rows.update({"notify one way": 8, "notify one way 4 KiB": 4096})
    rows.update({f"CPU time waiting 10 s in a barrier {ranks} ranks": 0})
    return rows


def twosided_rows(ranks):
    """Returns every row of twosided-bench, with the number of bytes that it moves."""
    few = {"8 B": 8, "4 KiB": 4096, "64 KiB": 65536, "1 MiB": 1 << 20, "4 MiB": 4 << 20}
    every = {f"{size} B": size for size in (0, 1, 2, 4, 8, 16, 32, 48, 64, 128, 256, 512)}
    every.update({f"{1 << power} KiB": 1024 << power for power in range(10)})
    every.update({f"{1 << power} MiB": (1 << 20) << power for power in range(3)})
    rates = {"8 B": 8, "512 B": 512, "4 KiB": 4096}
    group = {"8 B": 8, "4 KiB": 4096, "64 KiB": 65536}
    rows = {}

    def add(name, size, moved=1, controlled=False):
        rows.update({name + form: moved * size for form in (BESIDE if controlled and size >= 65536 else BESIDE[:1])})

    for what, hot, moved in (("latency", every, 1), ("bandwidth", every, 1), ("bidirectional", few, 2),
                             ("rate", rates, 1)):
        for variant in ("", " cold", " any source", " 1000 posted"):
            sizes = hot if variant == "" else rates if what == "rate" else few
            for text, size in sizes.items():
                add(f"twosided {what} {text}{variant}", size, moved, controlled=what.startswith("b"))
        if what != "rate":
            for text, size in {"16 KiB": 16384, "64 KiB": 65536, "1 MiB": 1 << 20, "4 MiB": 4 << 20}.items():
                add(f"twosided {what} {text} malloc", size, moved, controlled=what.startswith("b"))
    for text, size in rates.items():
        add(f"twosided rate {text} of 1 thread", size)
        add(f"twosided rate {text} of 2 threads", size)
    for text, size in {"64 B": 64, "512 B": 512, "4 KiB": 4096, "64 KiB": 65536}.items():
        for neighbours in (2, 6, 26):
            add(f"twosided halo {text} of {neighbours} neighbours {ranks} ranks", size)
    for text, size in group.items():
        add(f"twosided exchange {text} {ranks} ranks", size)
        if ranks >= 3:
            add(f"twosided latency {text} of 1 peer", size)
            add(f"twosided latency {text} of {ranks - 1} peers", size)
        if ranks >= 4:
            add(f"twosided pairs {text} {ranks // 2 * 2} ranks", size)
    return rows


def collectives_rows(ranks):
    """Returns every row of collectives-bench, with the size of a block."""
    sizes = {"8 B": 8, "512 B": 512, "4 KiB": 4096, "32 KiB": 32768, "256 KiB": 262144, "1 MiB": 1 << 20, "4 MiB": 4 << 20}
    rows = {f"coll barrier {ranks} ranks": 0, f"coll overlap 1 MiB {ranks} ranks": 1 << 20}
    for call in ("bcast", "reduce", "allreduce", "scan"):
        rows.update({f"coll {call} {text} {ranks} ranks": size for text, size in sizes.items()})
    for call in ("allgather", "gather", "scatter", "alltoall", "reduce_scatter_block"):
        few = {text: size for text, size in sizes.items() if size * ranks <= 4 << 20}
        rows.update({f"coll {call} {text} {ranks} ranks": size for text, size in few.items()})
    return rows


PROGRAMS = {"rma-bench": rma_rows, "armci-bench": armci_rows, "twosided-bench": twosided_rows,
            "collectives-bench": collectives_rows}


def faults(report, ranks, expected):
    """Returns the errors of the report, as lines."""
    found = []
    if (report["backend"], report["ranks"]) != ("rma", ranks):
        found.append(f"it is of {report['backend']} on {report['ranks']} ranks, not of rma on {ranks}")
    rows = {row["row"]: row for row in report["rows"]}
    found += [f"row '{name}' is missing" for name in expected if name not in rows]
    found += [f"row '{name}' is not known to this test" for name in rows if name not in expected]
    if len(rows) != len(report["rows"]):
        found.append("some row is there twice")
    for name, row in rows.items():
        # The kernel counts processor time in coarse steps, so it may be 0.
        least = 0 if row["suite"] == "idle" else 1e-6
        if not least <= row["min"] <= row["q1"] <= row["median"] <= row["q3"]:
            found.append(f"row '{name}' has no order: {row}")
        if row["samples"] < 1 or row["unit"] != ("ms" if row["suite"] == "idle" else "ns"):
            found.append(f"row '{name}' has odd samples or unit: {row}")
        if row["bytes"] != expected.get(name, row["bytes"]):
            found.append(f"row '{name}' moves {row['bytes']} bytes, not {expected[name]}")
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("rmarun")
    parser.add_argument("program", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "quick.json"
        command = [options.rmarun, "-n", str(options.ranks), str(options.program), "--quick", "--json", str(file)]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
        expected = PROGRAMS[options.program.name](options.ranks)
        found = faults(json.loads(file.read_text()), options.ranks, expected)
    for line in found:
        print(f"check_quick: {line}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

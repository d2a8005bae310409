#!/usr/bin/env python3
"""Draws the table of compare_table.py as a picture: how much longer than librma the other libraries take.

usage: compare_picture.py TABLE.json PICTURE.svg

Each group of bars is one operation, and each bar one library: its time divided by that of librma, on a logarithmic
axis. A library that was not measured has no bar. Needs gnuplot (scripts/setup.sh peers).
"""

import json
import pathlib
import subprocess
import sys

# The rows of the table that the picture shows, with their labels in the picture.
ROWS = (
    ("put 8 B", "put\\n8 B"),
    ("get 8 B", "get\\n8 B"),
    ("put 64 KiB", "put\\n64 KiB"),
    ("strided put 1024 x 64 B", "strided put\\n1 K x 64 B"),
    ("vector put 1024 x 64 B", "vector put\\n1 K x 64 B"),
    ("accumulate 64 doubles", "accumulate\\n512 B"),
    ("fetch-add alone", "fetch-add"),
    ("allreduce 8 B 2 ranks", "allreduce\\n8 B"),
    ("armci small strided put 16 x 64 B 2 ranks", "ARMCI put\\n16 x 64 B"),
    ("armci small strided accumulate 16 x 64 B 2 ranks", "ARMCI acc\\n16 x 64 B"),
)
LIBRARIES = (
    ("openmpi", "Open MPI RMA"),
    ("mpich", "MPICH RMA"),
    ("openshmem", "OpenSHMEM (Open MPI)"),
    ("armci-openmpi", "ARMCI-MPI on Open MPI"),
    ("armci-mpich", "ARMCI-MPI on MPICH"),
)


def ratios(table):
    """Returns [(label, {library: its time divided by ours})] of the measured rows, in the picture's order."""
    rows = {entry["row"]: entry for entry in table}
    return [
        (label, {name: time / rows[row]["ours"] for name, time in rows[row]["peers"].items()})
        for row, label in ROWS
        if row in rows and rows[row]["ours"]
    ]


def script(groups, target):
    """Returns gnuplot's input for the picture. A missing bar is a question mark there."""
    names = [(name, title) for name, title in LIBRARIES if any(name in found for _, found in groups)]
    lines = [
        "set terminal svg size 1100,480 dynamic background rgb 'white' font 'sans,11'",
        f"set output '{target}'",
        "set title 'Time of one operation, relative to librma (above the line: slower than librma)'",
        "set logscale y",
        "set yrange [0.5:*]",
        "set grid ytics",
        "set key outside top center horizontal noenhanced",
        "set style data histograms",
        "set style histogram clustered gap 1",
        "set style fill solid 0.8 noborder",
        "set boxwidth 0.9",
        "set xtics nomirror font ',10'",
        "set bmargin 4",
        "set datafile missing '?'",
        "$table << EOD",
    ]
    for label, found in groups:
        lines.append(" ".join([f'"{label}"'] + [f"{found[name]:.3f}" if name in found else "?" for name, _ in names]))
    bars = [f"$table using {i + 2}:xtic(1) title '{title}'" for i, (_, title) in enumerate(names)]
    return "\n".join([*lines, "EOD", "plot " + ", ".join([*bars, "1 with lines lc black lw 2 title 'librma'"]), ""])


def main(arguments):
    if len(arguments) != 2:
        print("usage: compare_picture.py TABLE.json PICTURE.svg", file=sys.stderr)
        return 2
    groups = ratios(json.loads(pathlib.Path(arguments[0]).read_text()))
    if not groups:
        print(f"compare_picture: {arguments[0]} has none of the rows that the picture shows", file=sys.stderr)
        return 1
    subprocess.run(["gnuplot"], input=script(groups, arguments[1]), text=True, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

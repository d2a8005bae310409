#!/usr/bin/env python3
"""Draws some rows of the table of compare_table.py as a picture: how much longer than librma the other
libraries take.

usage: compare_picture.py TABLE.json PICTURE.svg

Each row is one operation, and each mark one library: its time divided by that of librma, on a logarithmic
axis. A library that was not measured has no mark. The picture follows the reader's light or dark colours.
"""

import json
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "report"))
import chart  # noqa: E402
import comparison  # noqa: E402

# The rows of the table that the picture shows, with their labels in the picture.
ROWS = {
    "put 8 B": "put 8 B",
    "get 8 B": "get 8 B",
    "put 64 KiB": "put 64 KiB",
    "strided put 1024 x 64 B": "strided put 1024 x 64 B",
    "vector put 1024 x 64 B": "vector put 1024 x 64 B",
    "accumulate 64 doubles": "accumulate 512 B",
    "twosided latency 8 B": "message 8 B",
    "twosided latency 64 KiB malloc": "message 64 KiB",
    "twosided bandwidth 8 B": "message stream 8 B",
    "twosided halo 512 B of 6 neighbours 2 ranks": "halo exchange 512 B",
    "fetch-add alone": "fetch-add",
    "allreduce 8 B 2 ranks": "allreduce 8 B",
    "armci small strided put 16 x 64 B 2 ranks": "ARMCI put 16 x 64 B",
    "armci small strided accumulate 16 x 64 B 2 ranks": "ARMCI accumulate 16 x 64 B",
}


def picture(table):
    """Returns the SVG of the measured rows, in the picture's order; None if there is none."""
    rows = {entry["row"]: entry for entry in table}
    # Without the controls, which are no libraries.
    entries = [{**rows[row], "bare": None} for row in ROWS if row in rows and rows[row]["ours"]]
    if not entries:
        return None
    return chart.rows("Time of one operation relative to librma", [ROWS[entry["row"]] for entry in entries],
                      comparison.series_of(entries, lambda entry: ROWS[entry["row"]]),
                      "time relative to librma (right: slower)",
                      reference=comparison.REFERENCE)


def main(arguments):
    if len(arguments) != 2:
        print("usage: compare_picture.py TABLE.json PICTURE.svg", file=sys.stderr)
        return 2
    drawn = picture(json.loads(pathlib.Path(arguments[0]).read_text()))
    if drawn is None:
        print(f"compare_picture: {arguments[0]} has none of the rows that the picture shows", file=sys.stderr)
        return 1
    pathlib.Path(arguments[1]).write_text(chart.standalone(drawn))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

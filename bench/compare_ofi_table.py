"""Prints librma's rows beside those of libfabric: medians over the rounds of compare_ofi.sh, and their ratios.

usage: compare_ofi_table.py RESULTS [--json FILE]
"""

import argparse
import json
import pathlib
import re
import statistics

PROTOCOLS = ("host_assisted", "pipelined", "packed")  # values of RMA_NONCONTIGUOUS

# libfabric's target that librma's is compared with. While the program does not poll, a thread of librma sleeps until
# there is something to do, as libfabric's target does that sleeps.
RAW_TARGET = {"polls": "polls", "waits": "sleeps", "computes": "sleeps", "sleeps": "sleeps"}


def medians(results: pathlib.Path, kind: str) -> dict:
    """Returns the median over the rounds of each row's median, in nanoseconds."""
    rounds: dict = {}
    for file in sorted(results.glob(f"{kind}.*.json")):
        for row in json.loads(file.read_text())["rows"]:
            rounds.setdefault(row["row"], []).append(row["median"])
    return {row: statistics.median(values) for row, values in rounds.items()}


def table(raw: dict, rma: dict) -> list:
    """Returns a row for each of librma's, with the time of libfabric's row for the same transfer."""
    rows = []
    for name, nanoseconds in rma.items():
        transfer, target = re.fullmatch("(.*), target (.*)", name).groups()
        base = raw[f"{transfer}, target {RAW_TARGET[target]}"]
        rows.append({"row": name, "libfabric_us": base / 1000, "rma_us": nanoseconds / 1000,
                     "ratio": nanoseconds / base})
    return rows


def strided(results: pathlib.Path) -> dict:
    """Returns by row of noncontiguous transfers the bandwidth in MiB/s by each protocol."""
    rows: dict = {}
    for protocol in PROTOCOLS:
        for row, rate in medians(results, f"strided.{protocol}").items():
            rows.setdefault(row.removesuffix(": idle"), {})[protocol] = rate
    return {row: rates for row, rates in rows.items() if len(rates) == len(PROTOCOLS)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    raw = medians(options.results, "fabric")
    rows = table(raw, medians(options.results, "rma"))
    print(f"{'transfer':<34}{'libfabric us':>14}{'librma us':>12}{'ratio':>8}")
    for row in rows:
        print(f"{row['row']:<34}{row['libfabric_us']:>14.2f}{row['rma_us']:>12.2f}{row['ratio']:>8.2f}")
    noncontiguous = strided(options.results)
    if noncontiguous:
        print(f"\n{'noncontiguous, 256 KiB':<34}" + "".join(f"{name + ' MiB/s':>22}" for name in PROTOCOLS))
    for row, rates in noncontiguous.items():
        print(f"{row:<34}" + "".join(f"{rates[name]:>22.0f}" for name in PROTOCOLS))
    if options.json:
        options.json.write_text(json.dumps({"rows": rows, "noncontiguous": noncontiguous}, indent=2) + "\n")


if __name__ == "__main__":
    main()

"""The comparisons over TCP: reads what compare_ofi.sh left, as entries of compare_verbs_table."""

import json

import compare_ofi_table
from compare_verbs_table import entry_of

# By row: how many times libfabric's time a transfer may take.
FABRIC_GOALS = {"write 8 B, target polls": 1.3, "write 1 MiB, target polls": 1.1, "read 1 MiB, target polls": 1.1}
# The same of Open MPI's time. Of its bandwidth, librma has 0.95 at least.
MPI_GOALS = {"message 8 B, half a round trip": 1, "message 8 B, 64 under way": 1, "message 1 MiB, 8 under way": 1 / 0.95}
BESIDE_ENGINE = 0.2  # seconds that rmarun may take beside its engine, of "8 ranks on 2 hosts"
WITH_LIBRMA = 4.0  # seconds of "64 ranks on 8 hosts", with a program of librma


def rows_of(file):
    return json.loads(file.read_text())["rows"] if file.exists() else []


def of_fabric(folder):
    raw, ours = (compare_ofi_table.medians(folder, kind) for kind in ("fabric", "rma"))
    rows = compare_ofi_table.table(raw, ours) if raw and ours else []
    return [entry_of(row["row"], "us", row["rma_us"], "libfabric", row["libfabric_us"], FABRIC_GOALS.get(row["row"]))
            for row in rows]


def of_strided(folder):
    return [entry_of(f"{row}, host-assisted", "MiB/s", rates["host_assisted"], protocol, rates[protocol], None)
            for row, rates in compare_ofi_table.strided(folder).items() for protocol in ("pipelined", "packed")]


def of_hosts(folder):
    """Returns the entries of MPI between two hosts, for each other library."""
    return [entry_of(f"two hosts: {row['row']}", "us", row["us"]["librma"], name, theirs,
                     MPI_GOALS.get(row["row"]) if name == "Open MPI" else None)
            for row in rows_of(folder / "tcp.json") if "librma" in row["us"]
            for name, theirs in row["us"].items() if name != "librma"]


def of_start(folder):
    """Returns the entries of jobs from their command to their end."""
    entries = []
    for row in rows_of(folder / "start.json"):
        name, times = row["row"], row["s"]
        entries.append(entry_of(f"{name}: true", "s", times["rmarun"], "mpirun alone", times["engine"], None))
        if name == "8 ranks on 2 hosts":
            beside = times["rmarun"] - times["engine"]
            entries.append(entry_of(f"{name}: rmarun beside mpirun", "s", beside, "limit", BESIDE_ENGINE, 1))
        limited = name == "64 ranks on 8 hosts"
        other, goal = (("limit", WITH_LIBRMA), 1) if limited else (("mpirun alone, true", times["engine"]), None)
        entries.append(entry_of(f"{name}: a program of librma", "s", times["librma"], *other, goal))
    return entries


def read(folder):
    return [*of_fabric(folder), *of_strided(folder), *of_hosts(folder), *of_start(folder)]

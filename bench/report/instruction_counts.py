"""The instructions of MPI calls: reads what instructions.sh left, as entries of compare_verbs_table."""

import json

from compare_verbs_table import entry_of

# The most instructions that a call should take, by row. In every other row librma takes fewer than the better peer.
GOALS = {"isend": 120, "irecv-posted": 150, "arrival": 120, "wait-complete": 40, "sendrecv": 450, "send and recv": 300,
         "rma_put": 60}
PEERS = {"openmpi": "Open MPI", "mpich": "MPICH"}


def with_sum(table):
    """Returns the counts of one library, with the row that has a goal and is the sum of two others."""
    parts = ("send", "recv")
    return {**table, "send and recv": sum(table[row] for row in parts)} if all(row in table for row in parts) else table


def read(folder):
    file = folder / "counts.json"
    if not file.exists():
        return []
    tables = {name: with_sum(table) for name, table in json.loads(file.read_text()).items()}
    ours = tables.pop("librma", {})
    entries = []
    for row, count in ours.items():
        peers = {PEERS.get(name, name): table[row] for name, table in tables.items() if row in table}
        if row in GOALS:
            entries.append(entry_of(row, "instructions", count, "goal", GOALS[row], 1))
        if peers:
            best = min(peers, key=peers.get)
            entries.append(entry_of(f"{row}, to the better peer", "instructions", count, best, peers[best], 1))
    return entries

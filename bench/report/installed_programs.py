"""Installed programs on Open MPI and on librma: reads what installed.sh left, as entries of compare_verbs_table."""

import json

from compare_verbs_table import entry_of

SLOWER_AT_MOST = 1.02  # times the program's time on Open MPI


def read(folder):
    """A program that was wrong, or was not run, has no ratio, and its row says so."""
    file = folder / "table.json"
    rows = json.loads(file.read_text())["rows"] if file.exists() else []
    entries = []
    for row in rows:
        name = f"{row['program']}, {row['ranks']} ranks"
        if row["wrong"]:
            entries.append({**entry_of(f"{name}: {row['wrong']}", "s", 0.0, "Open MPI", 0.0, SLOWER_AT_MOST)})
        else:
            entries.append(entry_of(name, "s", row["librma"], "Open MPI", row["open_mpi"], SLOWER_AT_MOST))
    return entries

"""Brings the goals of all tables into one form: met, missed because of a limit that was measured beside it,
missed, or not measured."""

import dataclasses
import re

import compare_table
import compare_verbs_table
import figure_tools
import host_assisted_table

MET, LIMIT, MISSED, ABSENT = "met", "limit", "missed", "absent"
OUTCOMES = {MET: "met", LIMIT: "missed, and so does the limit", MISSED: "missed", ABSENT: "not measured"}

# What is known about rows that miss their goals: a pattern of the row, and the reason (docs/benchmarks.md).
REASONS = (
    (r"strided (put|get) (128 x 512 B|16 x 4 KiB).*",
     "It moves 64 KiB within the second-level cache, and the best peer is itself near the processor's copy."),
    (r"(put|get) [14] MiB",
     "Other machines share the third-level cache, so only the row and its control can be compared."),
    (r"twosided .* of (\d peers?|\d threads?).*|twosided pairs .*",
     "On two processors this row says how the ranks share them."),
    (r"twosided latency .*, to a crossing",
     "The cache line is most of it. The rest is the two calls, of 184 and 216 instructions."),
    (r"twosided (bandwidth|bidirectional) (64|128) KiB.*",
     "Nearly all of it is one system call that copies (6.1 of 6.4 us at 64 KiB), as the best peer's is."),
    (r"twosided bidirectional \d MiB.*", "Both processors copy all the time, and so do those of the best peer."),
    (r"coll (barrier|allreduce 8 B) 16 ranks",
     "Eight ranks share a processor. A barrier costs each of them 0.9 to 1.5 context switches, of about 2 us."),
    (r".* overlap / raw verbs'", "With one processor for each host, it either moves data for Soft-RoCE or computes."),
    (r".*two rails to one", "A Soft-RoCE device has no engine but the processor, and one rail keeps that busy."),
)
UNKNOWN = "No limit of the machine is known for this row, so the shortfall is librma's."


@dataclasses.dataclass
class Goal:
    area: str
    row: str
    value: float | None
    goal: float
    at_least: bool
    outcome: str
    why: str = ""
    paper: float | None = None


def known_reason(row):
    return next((why for pattern, why in REASONS if re.fullmatch(pattern, row)), UNKNOWN)


def of_comparison(area, table):
    """Returns the goals of compare_table's entries."""
    found = []
    for entry in table:
        said, ratio, bare = compare_table.verdict(entry), entry["ratio_to_best"], entry["bare"]
        outcome, why = (MET, "") if said == "" else (MISSED, known_reason(entry["row"]))
        if outcome == MISSED and entry.get("placement") == "mixed":
            why = "The programs were never measured at the same distance of the processors (docs/benchmarks.md)."
        if ratio is None:
            outcome, why = ABSENT, "No other library has this row, or its run failed."
        elif said == "at limit":
            outcome = LIMIT
            why = (f"It takes {entry['ours'] / bare:.2f} of plain loads and stores on the same pages: "
                   "the machine's own speed.")
        elif said == "bare missed":
            outcome = LIMIT
            why = f"Plain loads and stores on the same pages miss the goal too ({ratio * bare / entry['ours']:.2f})."
        found.append(Goal(area, entry["row"], ratio, entry["goal"], False, outcome, why))
    return found


def of_verbs(area, table):
    """Returns the goals of compare_verbs_table's entries that have one."""
    found = []
    for entry in table:
        if entry["goal"] is None:
            continue
        ratio, met = entry["ratio_to_best"], compare_verbs_table.meets(entry)
        outcome = ABSENT if ratio is None else MET if met else MISSED
        why = {ABSENT: "The other has no figure for this row.", MET: ""}.get(outcome, known_reason(entry["row"]))
        found.append(Goal(area, entry["row"], ratio, entry["goal"], not compare_verbs_table.is_time(entry), outcome, why))
    return found


def of_paper(area, table):
    """Returns the goals of a paper's summary. That of host-assisted calls its limit `bare`."""
    found = []
    for entry in table:
        if entry["goal"] is None:
            continue
        tools = host_assisted_table if "bare" in entry else figure_tools
        limit, said = entry.get("bare", entry.get("limit")), tools.verdict(entry)
        outcome = ABSENT if entry["value"] is None else MET if said == "" else MISSED if said == "missed" else LIMIT
        why = {
            ABSENT: "The run has no figure for this row, or the device's own figure is too small to compare with.",
            LIMIT: f"The same ratio of what the machine allows at best is {figure_tools.number(limit)}.",
            MISSED: known_reason(entry["row"]),
        }.get(outcome, "")
        found.append(Goal(area, entry["row"], entry["value"], entry["goal"], entry["at_least"], outcome, why,
                          entry.get("paper")))
    return found


def counts(goals):
    """Returns {outcome: how many}, in the order of OUTCOMES."""
    return {outcome: sum(goal.outcome == outcome for goal in goals) for outcome in OUTCOMES}

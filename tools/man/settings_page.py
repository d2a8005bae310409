#!/usr/bin/env python3
"""Prints librma(7), the manual page of the settings and counters, from the output of `rma-info --settings-markdown`.

usage: rma-info --settings-markdown | settings_page.py VERSION
"""

import re
import sys

# The heading of each of the page's tables, by the name of the table's first column.
HEADINGS = {"setting": "SETTINGS", "counter": "COUNTERS"}


def cells(line):
    """Returns the cells of one row of a Markdown table. A backslash in front of a bar keeps the bar in its cell."""
    return [each.strip().replace("\\|", "|") for each in re.split(r"(?<!\\)\|", line)[1:-1]]


def roff(text):
    """Returns the text for troff: `code` in bold, and nothing of it taken for a request or an escape."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"`([^`]*)`", r"\\fB\1\\fR", text)
    return re.sub(r"^([.'])", r"\\&\1", text)


def entry(kind, row):
    """Returns the lines of one setting or counter."""
    if kind == "counter":
        name, meaning = row
        return [".TP", roff(name), roff(meaning)]
    name, default, values, meaning = row
    return [".TP", roff(f"{name}: {values}; default {default}"), roff(meaning)]


def page(markdown, version):
    lines = [f'.TH LIBRMA 7 "" "librma {version}" "librma"', ".SH NAME",
             "librma \\- settings and counters of the librma runtime", ".SH DESCRIPTION"]
    kind = None
    for line in markdown.splitlines():
        if line.startswith("|---") or line.startswith("#") or not line:
            continue
        if not line.startswith("|"):
            # The first sentence says how the page in docs/ is kept.
            lines.append(roff(line.partition(". ")[2]))
        elif cells(line)[0] in HEADINGS:
            kind = cells(line)[0]
            lines.append(f".SH {HEADINGS[kind]}")
            if kind == "counter":
                lines += [".B RMA_STATS", "counts these:"]
        else:
            lines += entry(kind, cells(line))
    if kind is None:
        raise ValueError("the input has no table of settings")
    return "\n".join([*lines, ".SH SEE ALSO", ".BR rmarun (1),", ".BR rma\\-info (1)", ""])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: rma-info --settings-markdown | settings_page.py VERSION")
    sys.stdout.write(page(sys.stdin.read(), sys.argv[1]))

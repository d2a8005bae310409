"""Writes the report as one HTML page: no scripts, no network, styles and pictures inside."""

import pathlib
import time

import chart
import compare_table
import compare_verbs_table
import figure_tools
import goals

HERE = pathlib.Path(__file__).resolve().parent
escape = chart.escape


def table(heads, lines, kind=""):
    """Returns a table. A cell is a text, or (class, text). `kind` is the table's class."""
    def cell(tag, content):
        name, text = content if isinstance(content, tuple) else ("", content)
        return f'<{tag}{f" class={chr(34)}{name}{chr(34)}" if name else ""}>{escape(text)}</{tag}>'
    head = "".join(cell("th", each) for each in heads)
    body = "".join("<tr>" + "".join(cell("td", each) for each in line) + "</tr>" for line in lines)
    return (f'<div class="scroll"><table{f" class={chr(34)}{kind}{chr(34)}" if kind else ""}>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>")


def figure(title, picture, *captions):
    """Returns a picture with its title, if any, and captions; a figure that was not measured says so in its place."""
    heading = f"<h4>{escape(title)}</h4>" if title else ""
    body = picture or '<p class="absent">not measured</p>'
    texts = "".join(f"<p>{each}</p>" for each in captions if each)
    return f"<figure><figcaption>{heading}{texts}</figcaption>{body}</figure>"


def section(anchor, title, *parts):
    return f'<section id="{anchor}"><h2>{escape(title)}</h2>{"".join(parts)}</section>'


def details(summary, *parts, kind=""):
    return f"<details{kind}><summary>{escape(summary)}</summary>{''.join(parts)}</details>"


# ---- At a glance ------------------------------------------------------------------------------------------------


def outcome_bar(counts):
    """Returns a bar whose parts are as long as the numbers of goals."""
    parts = "".join(f'<span class="{outcome}" style="flex:{count}"></span>'
                    for outcome, count in counts.items() if count)
    text = ", ".join(f"{count} {goals.OUTCOMES[outcome]}" for outcome, count in counts.items())
    return f'<div class="bar" role="img" aria-label="{escape(text)}">{parts}</div>'


def tiles(counts):
    return '<div class="tiles">' + "".join(
        f'<div class="tile {outcome}"><b>{counts[outcome]}</b><span>{escape(text)}</span></div>'
        for outcome, text in goals.OUTCOMES.items()) + "</div>"


def by_area(areas):
    """Returns a line for each area, [(anchor, title, goals, note)], with its bar of outcomes."""
    lines = []
    for anchor, title, found, note in areas:
        counts = goals.counts(found)
        inside = outcome_bar(counts) + f'<span class="count">{counts[goals.MET]} of {len(found)}</span>' if found else \
            f'<span class="absent">{escape(note)}</span>'
        lines.append(f'<li><a href="#{anchor}">{escape(title)}</a>{inside}</li>')
    return f'<ul class="areas">{"".join(lines)}</ul>'


def goal_lines(found):
    lines = []
    for each in found:
        value = "-" if each.value is None else f"{each.value:.2f}"
        goal = f"{'at least' if each.at_least else 'at most'} {each.goal:g}"
        lines.append((each.area, each.row, ("num", value), ("num", goal), (each.outcome, goals.OUTCOMES[each.outcome]),
                      each.why))
    return lines


NOT_MEASURED = "not measured"  # the note of a part without results
# A longer table of missed goals is shown on request.
MOST_OPEN = 25
GOAL_HEADS = ("part", "row", ("num", "ratio"), ("num", "goal"), "outcome", "reason")


def glance(areas):
    every = [goal for _, _, found, _ in areas for goal in found]
    absent = sum(not found and note == NOT_MEASURED for _, _, found, note in areas)
    measured = f"<p>{len(areas) - absent} of {len(areas)} parts are measured.</p>"
    parts = [tiles(goals.counts(every)), measured, by_area(areas)]
    for outcome, title in ((goals.MISSED, "Goals that are missed"),
                           (goals.LIMIT, "Goals that this machine does not allow"),
                           (goals.ABSENT, "Goals without a measurement"), (goals.MET, "Goals that are met")):
        found = [goal for goal in every if goal.outcome == outcome]
        if found:
            is_open = " open" if outcome == goals.MISSED and len(found) <= MOST_OPEN else ""
            parts.append(details(f"{title} ({len(found)})", table(GOAL_HEADS, goal_lines(found), "goals"),
                                 kind=f' class="printed"{is_open}'))
    return section("glance", "At a glance", *parts)


# ---- Comparisons ------------------------------------------------------------------------------------------------


def comparison_table(entries):
    """Returns the table of compare_table.py for these rows, in absolute times."""
    names = sorted({name for entry in entries for name in entry["peers"]})
    lines = []
    for entry in entries:
        unit, ratio, bare = entry["unit"], entry["ratio_to_best"], entry.get("bare")
        said = compare_table.verdict({**entry, "bare": bare})
        lines.append((entry["row"], ("num", compare_table.figure(entry["ours"], unit)),
                      *(("num", compare_table.figure(entry["peers"][name], unit) if name in entry["peers"] else "-")
                        for name in names),
                      ("num", "-" if bare is None else compare_table.figure(bare, unit)),
                      ("num", "-" if ratio is None else f"{ratio:.2f}"), ("num", f"{entry['goal']:g}"), said))
    return table(("row", ("num", "librma"), *(("num", name) for name in names), ("num", "control"), ("num", "ratio"),
                  ("num", "goal"), ""), lines)


def suite_part(anchor, suite, drawn):
    if not suite.entries:
        return (f'<h3 id="{anchor}">{escape(suite.title)}</h3>'
                f'<p class="absent">not measured: <code>{escape(suite.command)}</code> measures it</p>')
    pictures = "".join(figure(title, picture) for title, picture in drawn)
    return (f'<h3 id="{anchor}">{escape(suite.title)}</h3><div class="figures">{pictures}</div>'
            + details(f"All {len(suite.entries)} rows, with their times", comparison_table(suite.entries)))


def verbs_part(entries, drawn):
    pictures = "".join(figure(title, picture) for title, picture in drawn)
    lines = []
    for entry in entries:
        (name, other), = entry["peers"].items()
        ratio = entry["ratio_to_best"]
        sign = "at most" if compare_verbs_table.is_time(entry) else "at least"
        lines.append((entry["row"], entry["unit"], ("num", f"{entry['ours']:.4g}"), ("num", f"{other:.4g}"),
                      "perftest" if name == "raw" else name, ("num", "-" if ratio is None else f"{ratio:.2f}"),
                      ("num", "-" if entry["goal"] is None else f"{sign} {entry['goal']:g}")))
    heads = ("row", "unit", ("num", "librma"), ("num", "other"), "which", ("num", "ratio"), ("num", "goal"))
    times = details(f"All {len(lines)} rows, with their figures", table(heads, lines)) if lines else ""
    return f'<div class="figures">{pictures}</div>{times}'


# ---- Papers -----------------------------------------------------------------------------------------------------


def paper_line(entry):
    """Returns the line of one value that the paper has too. The summary of host-assisted calls a limit `bare`."""
    number = figure_tools.number
    return (entry["row"], ("num", "not measured" if entry["value"] is None else number(entry["value"])),
            ("num", number(entry["paper"])), ("num", number(entry.get("limit", entry.get("bare")))),
            entry.get("note", ""))


def paper_part(anchor, paper, drawn, entries, when):
    """`drawn` is of paper_figures.pictures(), `entries` of the paper's summary.json."""
    parts = [f'<h3 id="{anchor}">{escape(paper.title)}</h3><p class="source">{escape(paper.source)}</p>']
    parts.append(f"<p>{when}</p>")
    parts.append(table(("the paper's own results", "figure", "where"), paper.results))
    compared = [entry for entry in entries if entry.get("paper") is not None]
    if compared:
        parts.append(table(("ratio or value", ("num", "here"), ("num", "in the paper"), ("num", "limit here"), "note"),
                           [paper_line(entry) for entry in compared]))
    pictures = [figure(each.title, picture,
                       f"The paper, {escape(each.paper)}." if each.paper else "The paper has no such figure.")
                for each, picture in drawn]
    parts.append(f'<div class="figures">{"".join(pictures)}</div>')
    return "".join(parts)


# ---- The page ---------------------------------------------------------------------------------------------------


def when_text(seconds, absent):
    """`absent` is the command that measures."""
    if seconds is None:
        return f'<span class="absent">not measured: <code>{escape(absent)}</code> measures it</span>'
    return f"Measured on {time.strftime('%Y-%m-%d, %H:%M UTC', time.gmtime(seconds))}."


def machines_part(machines):
    """`machines` has (what was measured, {name: value}, is it recorded with the results)."""
    parts = []
    for what, found, recorded in machines:
        title = what if recorded else f"{what}: not recorded with the results; this page was made on"
        parts.append(f"<h3>{escape(title)}</h3>" + table(("", ""), list(found.items()), "plain"))
    return section("machine", "Machine and versions", *parts)


def document(title, lead, parts, links):
    style = (HERE / "page.css").read_text() + (HERE / "chart.css").read_text()
    navigation = "".join(f'<a href="#{anchor}">{escape(text)}</a>' for anchor, text in links)
    return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
            f"<style>{style}</style></head><body><header><h1>{escape(title)}</h1><p>{lead}</p>"
            f"<nav>{navigation}</nav></header><main>{''.join(parts)}</main></body></html>\n")

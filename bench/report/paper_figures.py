"""The figures of the papers as they were measured here: reads what figures.sh and apps.sh wrote, and draws
it."""

import json

import figure_chart
import papers


def read(build, paper):
    """Returns ({name of a figure: its JSON}, the entries of the paper's table) of build/figures/PAPER."""
    folder = folder_of(build, paper)
    drawn = {file.stem: json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))}
    return {name: each for name, each in drawn.items() if name != "summary"}, drawn.get("summary", [])


def folder_of(build, paper):
    return build / "apps" if paper.name == "apps" else build / "figures" / paper.name


def pictures(paper, drawn):
    """Returns [(figure of the paper, SVG or None where it was not measured)], then what was measured beyond
    those."""
    known = [figure.name for figure in paper.figures]
    found = [(figure, figure_chart.draw(drawn[figure.name]) if figure.name in drawn else None)
             for figure in paper.figures]
    for name, each in drawn.items():
        if name not in known and each["series"]:
            found.append((papers.Figure(name, each["title"], ""), figure_chart.draw(each)))
    return found

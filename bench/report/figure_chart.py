"""Draws one figure of a paper from its JSON, as bench/papers/figure_tools.py makes it."""

import chart


def series_of(drawn):
    """Returns the series of a figure. Puts and gets of one protocol have one colour; gets are dashed."""
    forms = sorted({each["form"] for each in drawn["series"]})
    shared = len({each["name"] for each in drawn["series"]}) > len(forms)
    found = []
    for number, each in enumerate(drawn["series"]):
        points = [chart.Point(p["x"], p["median"], p["min"], p["max"],
                              f"{each['name']}: {chart.number_text(p['median'])} {drawn['y']} "
                              f"({chart.number_text(p['min'])} to {chart.number_text(p['max'])} "
                              f"in {p['rounds']} rounds)")
                  for p in each["points"]]
        colour = forms.index(each["form"]) if shared else number
        found.append(chart.Series(each["name"], points, colour, dashed=each.get("call") == "get"))
    return found


def draw(drawn):
    """Returns the SVG of one figure. One without a title of its x axis has rows."""
    series = series_of(drawn)
    if drawn["x"] == "":
        names = list(dict.fromkeys(point.x for each in series for point in each.points))
        return chart.rows(drawn["title"], names, series, drawn["y"], log=False)
    x_text = chart.number_text if drawn.get("plain_x") else chart.size_text
    return chart.lines(drawn["title"], series, drawn["x"], drawn["y"], x_text=x_text)

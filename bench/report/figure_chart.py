"""Draws one figure of a paper from its JSON, as bench/papers/figure_tools.py makes it."""

import chart


# Times of a figure are shown in the largest of these units that leaves the greatest above 10.
UNITS = (("ns", 1), ("us", 1e3), ("ms", 1e6), ("s", 1e9))


def readable(drawn):
    """Returns the figure with its times in a unit that suits them. Other figures stay as they are."""
    points = [point for each in drawn["series"] for point in each["points"]]
    greatest = max((point["max"] for point in points), default=0)
    if drawn["y"] != "ns" or greatest < 1e4:
        return drawn
    unit, scale = [each for each in UNITS if greatest / each[1] >= 10][-1]
    def scaled(p):
        return {**p, **{key: p[key] / scale for key in ("median", "min", "max")}}
    series = [{**each, "points": [scaled(p) for p in each["points"]]} for each in drawn["series"]]
    return {**drawn, "y": unit, "series": series}


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
    drawn = readable(drawn)
    series = series_of(drawn)
    if drawn["x"] == "":
        names = list(dict.fromkeys(point.x for each in series for point in each.points))
        return chart.rows(drawn["title"], names, series, drawn["y"], log=False)
    x_text = chart.number_text if drawn.get("plain_x") else chart.size_text
    return chart.lines(drawn["title"], series, drawn["x"], drawn["y"], x_text=x_text)

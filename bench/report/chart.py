"""Draws charts as SVG text. Colours are CSS classes (style.css), so a chart follows the page, light or dark.

A chart is 440 units wide, which is readable on a phone and in two columns on a desk. Every marker has a
title, which a browser shows under the pointer. `standalone` makes a picture of its own, with the style
inside.
"""

import dataclasses
import html
import math
import pathlib

WIDTH = 440
CHARACTER = 5.9  # the width of a character of 11 units, on average
LEGEND_LINE = 16
COLOURS = 6
# Two series never have the same marker, so print and colour-blind readers can tell them apart.
MARKERS = ("circle", "square", "diamond", "triangle", "down", "cross")


@dataclasses.dataclass
class Point:
    x: object  # a number, or the row of a chart of rows
    y: float
    low: float | None = None
    high: float | None = None
    text: str = ""  # shown under the pointer


@dataclasses.dataclass
class Series:
    name: str
    points: list
    number: int  # its colour and marker
    dashed: bool = False


def escape(text):
    return html.escape(str(text), quote=True)


def number_text(value):
    """Returns a number for an axis or a tooltip: at most three digits that count, no exponent."""
    if value == 0:
        return "0"
    if abs(value) >= 1e6:
        return f"{value / 1e6:.3g} M"
    if abs(value) >= 100:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.3g}"


def size_text(size):
    for unit, shift in (("MiB", 20), ("KiB", 10)):
        if size >= 1 << shift:
            return f"{size / (1 << shift):g} {unit}"
    return f"{size:g} B"


def round_step(length):
    """Returns the least step of 1, 2 or 5 times a power of ten that goes into `length` at most eight times.
    """
    power = 10.0**math.floor(math.log10(length))
    return next(step * power for step in (0.1, 0.2, 0.5, 1, 2) if length / (step * power) <= 8.0001)


def log_ticks(low, high):
    """Returns round values within the limits: 1, 2 and 5 of each decade, some decades of a long axis, or
    equal steps of a short one."""
    if high / low < 4:
        step = round_step(high - low)
        return [step * i for i in range(math.ceil(low / step), int(high / step) + 1)]
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if high / low < 300 else (1,)
    every = 1 + len(decades) // 8
    ticks = [step * 10.0**decade for decade in decades if decade % every == 0 for step in steps]
    return [tick for tick in ticks if low * 0.999 <= tick <= high * 1.001]


def linear_ticks(high):
    """Returns round values from 0 to `high`."""
    step = round_step(high)
    return [step * i for i in range(int(high / step + 1e-9) + 1)]


class Scale:
    """The place of a value on an axis. A logarithmic axis shows 0 half a step in front of the least value."""

    def __init__(self, low, high, start, end, log):
        self.start, self.end, self.log, self.least = start, end, log, low
        self.low, self.high = (math.log(low), math.log(high)) if log else (low, high)
        if self.low == self.high:
            self.high = self.low + 1

    def __call__(self, value):
        if self.log:
            value = math.log(max(value, self.least))
        return self.start + (self.end - self.start) * (value - self.low) / (self.high - self.low)


def marker(x, y, number, text):
    kind = MARKERS[number % len(MARKERS)]
    shape = {
        "circle": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"',
        "square": f'<rect x="{x - 3.6:.1f}" y="{y - 3.6:.1f}" width="7.2" height="7.2"',
        "diamond": f'<path d="M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5-5z"',
        "triangle": f'<path d="M{x:.1f} {y - 5:.1f}l4.8 8.5h-9.6z"',
        "down": f'<path d="M{x:.1f} {y + 5:.1f}l4.8-8.5h-9.6z"',
        "cross": f'<path d="M{x - 4:.1f} {y - 1.2:.1f}h2.8v-2.8h2.4v2.8h2.8v2.4h-2.8v2.8h-2.4v-2.8h-2.8z"',
    }[kind]
    return f'{shape} class="mark c{number % COLOURS}"><title>{escape(text)}</title></{shape[1:].split()[0]}>'


def legend(series, y, curves=False):
    """Returns (the legend's parts, the y below it). It breaks where the width ends. `curves`: with a piece of
    each curve."""
    parts, x = [], 8.0
    for each in series:
        width = (32 if curves else 20) + CHARACTER * len(each.name) + 12
        if x + width > WIDTH and x > 8:
            x, y = 8.0, y + LEGEND_LINE
        if curves:
            parts.append(f'<path class="line c{each.number % COLOURS}{" dashed" if each.dashed else ""}" '
                         f'd="M{x:.1f} {y - 4:.1f}h22"/>')
        parts.append(marker(x + (11 if curves else 5), y - 4, each.number, each.name))
        parts.append(f'<text x="{x + (26 if curves else 14):.1f}" y="{y:.1f}">{escape(each.name)}</text>')
        x += width
    return parts, y + LEGEND_LINE


def svg(title, height, parts):
    return (f'<svg class="chart" viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(title)}" '
            f'xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>')


def standalone(picture):
    """Returns a chart as a file of its own that follows the reader's colour scheme."""
    style = (pathlib.Path(__file__).parent / "chart.css").read_text()
    start, rest = picture.split(">", 1)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{start}><style>{style}</style>' \
           f'<rect class="paper" width="100%" height="100%"/>{rest}\n'


def lines(title, series, x_label, y_label, x_text=size_text, log_y=False, reference=None):
    """Returns a chart of curves over a logarithmic x. `reference` is (y, text) of a line across; y begins at
    0 unless `log_y`."""
    parts, top = legend(series, 14, curves=True)
    left, right, height = 58, WIDTH - 12, top + 262
    bottom = height - 42
    points = [point for each in series for point in each.points]
    xs = sorted({point.x for point in points})
    positive = [x for x in xs if x > 0] or [1]
    x_scale = Scale(positive[0] / 2 if 0 in xs else positive[0], positive[-1], left + 8, right - 10, log=True)
    ys = [value for point in points for value in (point.y, point.low, point.high) if value is not None]
    ys += [reference[0]] if reference else []
    low, high = 0, (max(ys) or 1) * 1.06
    if log_y:
        low, high = min(y for y in ys if y > 0) / 1.15, max(ys) * 1.15
    y_scale = Scale(low, high, bottom, top, log_y)
    for tick in log_ticks(low, high) if log_y else linear_ticks(high):
        y = y_scale(tick)
        parts.append(f'<path class="grid" d="M{left} {y:.1f}H{right}"/>'
                     f'<text class="end" x="{left - 6}" y="{y + 4:.1f}">{number_text(tick)}</text>')
    free = 0.0  # where the next label may begin
    for x in xs:
        place, text = x_scale(x), x_text(x)
        if place - CHARACTER * len(text) / 2 < free:
            continue
        free = place + CHARACTER * (len(text) / 2 + 1)
        parts.append(f'<path class="axis" d="M{place:.1f} {bottom}v4"/>'
                     f'<text class="middle" x="{place:.1f}" y="{bottom + 17}">{escape(text)}</text>')
    parts.append(f'<path class="axis" d="M{left} {bottom}H{right}"/>'
                 f'<text class="middle" x="{(left + right) / 2}" y="{height - 6}">{escape(x_label)}</text>'
                 f'<text class="middle" transform="translate(13 {(top + bottom) / 2}) rotate(-90)">'
                 f'{escape(y_label)}</text>')
    if reference:
        parts.append(f'<path class="reference" d="M{left} {y_scale(reference[0]):.1f}H{right}"/>')
    for each in series:
        dashed = " dashed" if each.dashed else ""
        path = "".join(f"{'L' if i else 'M'}{x_scale(p.x):.1f} {y_scale(p.y):.1f}" for i, p in enumerate(each.points))
        parts.append(f'<path class="line c{each.number % COLOURS}{dashed}" d="{path}"/>')
        for p in each.points:
            if p.low is not None and p.high is not None and p.high > p.low:
                parts.append(f'<path class="spread c{each.number % COLOURS}" '
                             f'd="M{x_scale(p.x):.1f} {y_scale(p.low):.1f}V{y_scale(p.high):.1f}"/>')
            parts.append(marker(x_scale(p.x), y_scale(p.y), each.number, p.text or f"{each.name}: {number_text(p.y)}"))
    if reference:
        parts.append(f'<text class="ours end" x="{right}" y="{y_scale(reference[0]) - 5:.1f}">'
                     f'{escape(reference[1])}</text>')
    return svg(title, height, parts)


def rows(title, names, series, x_label, log=True, reference=None):
    """Returns a chart with one row for each of `names`, and in it a marker for each series that has a point
    there (Point.x is the name). `reference` is (x, text) of a line down."""
    parts, top = legend(series, 14)
    top += 14 if reference else 0
    left = min(WIDTH * 0.48, 14 + CHARACTER * max(len(name) for name in names))
    right, step = WIDTH - 16, 22
    bottom = top + step * len(names) + 4
    values = [v for each in series for p in each.points for v in (p.y, p.low, p.high) if v is not None]
    values += [reference[0]] if reference else []
    low, high = 0, (max(values) or 1) * 1.05
    if log:
        low, high = min(v for v in values if v > 0) / 1.2, max(values) * 1.2
    scale = Scale(low, high, left + 6, right, log)
    for tick in log_ticks(low, high) if log else linear_ticks(high):
        x = scale(tick)
        parts.append(f'<path class="grid" d="M{x:.1f} {top}V{bottom}"/>'
                     f'<text class="middle" x="{x:.1f}" y="{bottom + 14}">{number_text(tick)}</text>')
    parts.append(f'<text class="middle" x="{(left + right) / 2:.1f}" y="{bottom + 31}">{escape(x_label)}</text>')
    if reference:
        x = scale(reference[0])
        side = "end" if x > (left + right) / 2 else "start"
        parts.append(f'<path class="reference" d="M{x:.1f} {top - 4}V{bottom}"/>'
                     f'<text class="ours {side}" x="{x:.1f}" y="{top - 7}">{escape(reference[1])}</text>')
    most = int((left - 8) / CHARACTER)
    for number, name in enumerate(names):
        y = top + step * (number + 0.5) + 2
        shown = name if len(name) <= most else name[:most - 1] + "\u2026"
        parts.append(f'<path class="row" d="M{left + 6:.1f} {y:.1f}H{right}"/>'
                     f'<text class="end" x="{left:.1f}" y="{y + 4:.1f}">{escape(shown)}'
                     f'<title>{escape(name)}</title></text>')
        for each in series:
            for p in each.points:
                if p.x != name:
                    continue
                if p.low is not None and p.high is not None and p.high > p.low:
                    parts.append(f'<path class="spread c{each.number % COLOURS}" '
                                 f'd="M{scale(p.low):.1f} {y:.1f}H{scale(p.high):.1f}"/>')
                parts.append(marker(scale(p.y), y, each.number, p.text or f"{name}, {each.name}: {number_text(p.y)}"))
    return svg(title, bottom + 38, parts)

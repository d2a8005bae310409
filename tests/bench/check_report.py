#!/usr/bin/env python3
"""Loads the page of bench/report, on made-up results, in a headless Chromium: links, pictures, colours, the
width of a phone, print, and that it logs nothing and asks for nothing.

usage: check_report.py [FOLDER]
  FOLDER  where the page and screenshots of it stay: light.png, dark.png, phone.png and page.pdf

Skipped (exit code 77) without a browser: scripts/setup.sh report installs one.
"""

import pathlib
import sys
import tempfile

import report_sample
import browser
import make

PHONE, DESK = (390, 844), (1280, 900)
# JavaScript that returns what is wrong, as a list.
LINKS = """[...document.links].map(a => a.getAttribute('href')).filter(h => !document.getElementById(h.slice(1)))"""
PICTURES = """[...document.querySelectorAll('svg')].filter(s => {
  const box = s.getBoundingClientRect(); return box.width < 200 || box.height < 60;
}).map(s => s.getAttribute('aria-label'))"""
# Text of a chart that leaves the chart.
CUT = """[...document.querySelectorAll('svg text')].filter(t => {
  const text = t.getBoundingClientRect(), whole = t.ownerSVGElement.getBoundingClientRect();
  return text.left < whole.left - 1 || text.right > whole.right + 1 || text.top < whole.top - 1
    || text.bottom > whole.bottom + 1;
}).map(t => t.ownerSVGElement.getAttribute('aria-label') + ': ' + t.textContent)"""
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
# The least contrast of text and marks to the page, as WCAG defines it.
CONTRAST = """(() => {
  const light = color => color.match(/[0-9.]+/g).slice(0, 3).map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const page = light(getComputedStyle(document.body).backgroundColor);
  const colors = [...document.querySelectorAll('svg text, p, td, th, a, h4')].map(e => getComputedStyle(e))
    .map(s => s.fill !== 'rgb(0, 0, 0)' ? s.fill : s.color)
    .concat([...document.querySelectorAll('svg .mark')].map(e => getComputedStyle(e).fill));
  return Math.min(...colors.map(light).map(v => (Math.max(v, page) + 0.05) / (Math.min(v, page) + 0.05)));
})()"""
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


def faults(tab, address, folder):
    """Returns what is wrong with the page, as lines. Leaves screenshots in the folder."""
    found, backgrounds = [], {}
    tab.look(*DESK, "light")
    tab.open(address)
    for name, size, scheme in (("light", DESK, "light"), ("dark", DESK, "dark"), ("phone", PHONE, "light")):
        tab.look(*size, scheme)
        backgrounds[name] = tab.ask(BACKGROUND)
        for what, expression in (("a link leads nowhere", LINKS), ("a picture is too small", PICTURES),
                                 ("text is cut off", CUT)):
            found += [f"{name}: {what}: {each}" for each in tab.ask(expression)]
        if tab.ask(TOO_WIDE):
            found.append(f"{name}: the page is wider than the window")
        contrast = tab.ask(CONTRAST)
        if contrast < 3:
            found.append(f"{name}: a text or mark has a contrast of only {contrast:.2f} to the page")
        tab.screenshot(folder / f"{name}.png")
    if backgrounds["light"] == backgrounds["dark"]:
        found.append(f"light and dark have one background, {backgrounds['light']}")
    tab.look(*DESK, "dark", media="print")
    if tab.ask(BACKGROUND) != backgrounds["light"]:
        found.append("print has a dark background")
    (folder / "page.pdf").write_bytes(pdf := tab.printed())
    if not pdf.startswith(b"%PDF"):
        found.append("the page cannot be printed")
    if tab.ask("document.querySelectorAll('svg').length") < 12:
        found.append("the page has fewer pictures than the sample has figures")
    found += [f"logged: {each}" for each in tab.logged]
    found += [f"asked for {each}" for each in tab.requested if each != address and not each.startswith("data:")]
    return found


def main(arguments):
    program = browser.find()
    if program is None:
        print(f"check_report: skipped: there is none of {', '.join(browser.NAMES)}; "
              "scripts/setup.sh report installs one")
        return 77
    with tempfile.TemporaryDirectory() as name:
        build = pathlib.Path(name)
        folder = pathlib.Path(arguments[0]) if arguments else build / "report"
        report_sample.make(build)
        make.main(["--build", str(build), "--out", str(folder)])
        with browser.Browser(program) as tab:
            found = faults(tab, (folder / "index.html").resolve().as_uri(), folder)
    for line in found:
        print(f"check_report: {line}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

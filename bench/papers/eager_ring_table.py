#!/usr/bin/env python3
"""Draws the figures from the measurements of figures.sh --paper eager-ring, and prints the ratios that have goals.

usage: eager_ring_table.py ROUNDS --out DIR

ROUNDS is a folder; each folder round-* in it has the outputs of messages-bench and perftest of one round, and
polling.json is that of rings-bench. The limit of a ratio of the two channels is the same ratio of the device's own two
ways: perftest's writes, which the target polls for, to its sends.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from compare_verbs_table import parse_perftest  # noqa: E402
from figure_tools import (  # noqa: E402
    by_size, curve, entry, figure, middle, ratio, read_rounds, read_rows, run_table, size_text, sizes)

FORMS = {"ring": "ring", "queue": "send/receive"}
SMALLEST = 8
# perftest's outputs, and the column that counts.
DEVICE = {
    "write-latency": ("t_typical[usec]", 1e3),
    "send-latency": ("t_typical[usec]", 1e3),
    "write-rate": ("MsgRate[Mpps]", 1e6),
    "send-rate": ("MsgRate[Mpps]", 1e6),
}
# Up to here a message is small: the paper's figure 12.
SMALL = 1 << 10


def device(name):
    return ("device", name, 0, "perftest")


def read_round(folder):
    """Returns the rows of the programs, and perftest's figures in ns and 1/s."""
    values = read_rows(folder)
    for name, (column, scale) in DEVICE.items():
        file = folder / f"{name}.raw"
        if file.exists():
            values[device(name)] = parse_perftest(file.read_text())[column] * scale
    return values


def read_polling(folder):
    """Returns one more round, of the connections that rings-bench measured."""
    file = folder / "polling.json"
    if not file.exists():
        return {}
    return {(row["suite"], row["row"], row["bytes"], row["form"]): row["median"]
            for row in json.loads(file.read_text())["rows"]}


def curves(rounds, suite, row, scale=1.0, keep=lambda size: True):
    return [curve(rounds, name, form,
                  {size: key for size, key in by_size(rounds, suite, row, form).items() if keep(size)}, scale)
            for form, name in FORMS.items()]


def figures(rounds, polling):
    size = "bytes of a message"
    latencies = curves(rounds, "latency", "one way", 1e-3)
    streams = curves(rounds, "bandwidth", "stream")
    return [
        figure("figure09", "Latency, ring", size, "us, one way", latencies[:1]),
        figure("figure10", "Bandwidth, ring", size, "MiB/s", streams[:1]),
        figure("figure11", "Latency by channel", size, "us, one way", latencies),
        figure("figure12", "Bandwidth by channel, small messages", size, "MiB/s",
               curves(rounds, "bandwidth", "stream", keep=lambda bytes_: bytes_ <= SMALL)),
        figure("figure13", "Bandwidth by channel, large messages", size, "MiB/s",
               curves(rounds, "bandwidth", "stream", keep=lambda bytes_: bytes_ > SMALL)),
        figure("figure14", "Host overhead by channel", size, "us of processor time",
               curves(rounds, "overhead", "send and receive", 1e-3)),
        figure("rate", "Message rate by channel", size, "messages/s", curves(rounds, "rate", "messages")),
        figure("figure20", "One look at all rings", "connections", "us",
               [curve([polling], "rings", "ring", by_size([polling], "polling", "rings of a look", "ring"), 1e-3)],
               plain_x=True),
    ]


def entries(rounds, polling):
    latency = lambda form, size=SMALLEST: ("latency", "one way", size, form)  # noqa: E731
    limit_of_latency = ratio(rounds, device("write-latency"), device("send-latency"))
    limit_of_rate = ratio(rounds, device("write-rate"), device("send-rate"))
    found = [
        entry("8 B one way: ring / ib_write_lat", ratio(rounds, latency("ring"), device("write-latency")), 1.25,
              at_least=False),
        entry("8 B one way: send/receive / ib_send_lat", ratio(rounds, latency("queue"), device("send-latency"))),
    ]
    for size in sizes(rounds, "latency", "one way", "ring"):
        smallest = size == SMALLEST
        found.append(entry(f"{size_text(size)} one way: ring / send/receive",
                           ratio(rounds, latency("ring", size), latency("queue", size)), 0.8 if smallest else None,
                           at_least=False, paper=0.76 if smallest else None,
                           limit=limit_of_latency if smallest else None))
    for size in sizes(rounds, "bandwidth", "stream", "ring"):
        goal = 2.0 if size <= SMALL else None
        found.append(entry(f"{size_text(size)} bandwidth: ring / send/receive",
                           ratio(rounds, ("bandwidth", "stream", size, "ring"), ("bandwidth", "stream", size, "queue")),
                           goal, paper=2.04 if goal else None, limit=limit_of_rate if goal else None))
    for size in sizes(rounds, "overhead", "send and receive", "ring"):
        keys = [("overhead", "send and receive", size, form) for form in FORMS]
        found.append(entry(f"{size_text(size)} host overhead: ring / send/receive", ratio(rounds, *keys),
                           paper=0.78 if size == SMALLEST else None))
    for connections, paper in ((16, 0.14), (128, 1.3)):
        value = middle([polling], ("polling", "rings of a look", connections, "ring"))
        found.append(entry(f"polling of {connections} connections, us", None if value is None else value / 1e3,
                           paper=paper))
    return found


def main(arguments):
    def read(folder):
        return read_rounds(folder, read_round), read_polling(folder)
    return run_table(arguments, __doc__, read, figures, entries)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Makes a build folder with results of all measurements, made up here and small, for the tests of
bench/report."""

import json
import pathlib
import sys

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path[:0] = [str(BENCH), str(BENCH / "papers"), str(BENCH / "report")]
import figure_tools as tools  # noqa: E402
import host_assisted_table  # noqa: E402

SIZES = {"8 B": 8, "512 B": 512, "4 KiB": 4096, "64 KiB": 65536, "1 MiB": 1 << 20}


def result(backend, ranks, rows, unit="ns"):
    return {"backend": backend, "ranks": ranks, "rows": [
        {"suite": "", "row": name, "form": "", "unit": unit, "bytes": 0, "median": time} for name, time in rows.items()]}


def scaled(rows, factor):
    return {name: time * factor for name, time in rows.items() if not name.endswith(" bare")}


def compare(folder):
    """Rows of every suite, some above their goal; the control of two of them is as slow or misses the goal
    too."""
    pairs = {f"{call} {text}": 5.0 + size / 16 for call in ("put", "get") for text, size in SIZES.items()}
    pairs |= {"strided put 128 x 512 B": 3000.0, "strided put 128 x 512 B bare": 2990.0,
              "strided put 16 x 4 KiB": 3000.0, "strided put 16 x 4 KiB bare": 2800.0, "accumulate 64 doubles": 90.0,
              "fetch-add alone": 8.0, "notify one way": 120.0, "barrier 2 ranks": 100.0, "allreduce 8 B 2 ranks": 150.0}
    messages = {f"twosided latency {text}": 200.0 + size / 8 for text, size in SIZES.items()}
    messages |= {f"twosided bandwidth {text}": 100.0 + size / 8 for text, size in SIZES.items()}
    messages |= {"twosided rate 8 B": 50.0, "twosided latency 8 B any source": 210.0}
    armci = {f"armci put {text} 2 ranks": 9.0 + size / 16 for text, size in SIZES.items()}
    armci |= {"armci small strided put 16 x 64 B 2 ranks": 40.0, "armci fence 2 ranks": 4.0, "armci puts alone 2 ranks": 7.0}
    collectives = {f"coll bcast {text} 2 ranks": 300.0 + size / 4 for text, size in SIZES.items()}
    collectives |= {"coll barrier 2 ranks": 90.0}
    programs = {
        "cache-line": result("cache-line", 2, {"cache-line crossing": 95.0}),
        "rma-2": result("rma", 2, pairs), "openmpi-2": result("openmpi", 2, scaled(pairs, 1.4)),
        "mpich-2": result("mpich", 2, scaled(pairs, 30)), "openshmem-2": result("openshmem", 2, {"put 8 B": 20.0}),
        "rma-idle-2": result("rma", 2, {"CPU time waiting 10 s in a barrier 2 ranks": 12.0}, "ms"),
        "twosided-2": result("rma", 2, messages), "twosided-openmpi-2": result("twosided-openmpi", 2, scaled(messages, 1.2)),
        "armci-2": result("rma", 2, armci), "armci-openmpi-2": result("armci-openmpi", 2, scaled(armci, 40)),
        "shmem": result("rma", 2, {"shmem p heap": 5.0, "shmem p static": 6.0, "shmem g heap": 6.0}),
        "shmem-openshmem": result("openshmem", 2, {"shmem p heap": 11.0, "shmem p static": 12.0}),
        "collectives-2": result("rma", 2, collectives),
        "collectives-mpich-2": result("collectives-mpich", 2, scaled(collectives, 2.5)),
    }
    round_1 = folder / "round-1"
    round_1.mkdir(parents=True)
    for name, each in programs.items():
        (round_1 / f"{name}.json").write_text(json.dumps(each))
    (folder / "machine.txt").write_text("processor: a sample <processor>\nlibrma: 0123abc\n")


def verbs(folder):
    (folder / "round-1").mkdir(parents=True)
    (folder / "round-1" / "put-latency.raw").write_text(
        " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]\n 8       200          90.0   400.0       100.0\n")
    (folder / "round-1" / "latency.json").write_text(json.dumps({"rows": [
        {"suite": "latency", "row": "put latency 8 B", "unit": "ns", "median": 110e3, "min": 95e3}]}))
    (folder / "round-1" / "reuse.json").write_text(json.dumps({"rows": [
        {"suite": "reuse", "row": f"{strategy}: 8 MiB used {uses} times", "unit": "MiB/s", "median": rate * uses}
        for strategy, rate in (("cache", 5.0), ("pipeline", 7.0)) for uses in (1, 2, 5)]}))
    for ranks in (2, 4):
        (folder / f"memory-{ranks}.json").write_text(json.dumps({"ranks": ranks, "rows": [
            {"suite": "memory", "row": f"{sharing}: Pss all-to-all", "unit": "KiB", "median": 9000.0 + size * ranks}
            for sharing, size in (("shared", 100), ("own", 900))]}))


def curve(name, form, values, **more):
    points = [tools.point(x, [y * 0.9, y, y * 1.2]) for x, y in values.items()]
    return {"name": name, "form": form, "points": points, **more}


def host_assisted(folder):
    """Three figures of the paper, the others missing; a goal that is met, one that the device misses too, and
    one that was not measured."""
    rates = {65536 << i: 10.0 * (i + 1) for i in range(4)}
    drawn = [
        tools.figure("figure05", "Contiguous transfers, target idle", "bytes of a transfer", "MiB/s", [
            curve(f"{form} {call}", form, {x: y * factor for x, y in rates.items()}, call=call)
            for call in ("put", "get") for form, factor in (("zero-copy", 3), ("pipelined", 2), ("buffered", 1))]),
        tools.figure("figure07a", "Overlap, contiguous", "bytes of a transfer", "overlap, %",
                     [curve("zero-copy put", "zero-copy", {65536: 0.0, 1 << 20: 0.0}, call="put")]),
        tools.figure("section43", "Read-modify-write of 8 bytes", "", "us", [
            curve("network device", "nic", {"fetch-add": 120.0, "compare-swap": 130.0}),
            curve("helper thread", "helper", {"fetch-add": 150.0})]),
    ]
    tools.write_figures(drawn, folder)
    make = host_assisted_table.entry
    (folder / "summary.json").write_text(json.dumps([
        make("put strided 4 KiB: host_assisted / packed", 1.8, 1.3), make("put strided 1 KiB: host_assisted / contiguous", 0.5,
        0.9, bare=0.6), {**make("fetch-and-add: network device's time / helper's", None, 1.0, at_least=False),
                         "paper": 0.77}]))


def eager_ring(folder):
    """A goal that is missed although the device would reach it, and two of the paper's values."""
    tools.write_figures([tools.figure("figure20", "One look at all rings", "connections", "us",
                                      [curve("ring", "ring", {16: 0.1, 128: 0.6})], plain_x=True)], folder)
    (folder / "summary.json").write_text(json.dumps([
        tools.entry("8 B one way: ring / send/receive", 0.9, 0.8, at_least=False, paper=0.76, limit=0.7),
        tools.entry("polling of 16 connections, us", 0.1, paper=0.14)]))


def allgather(folder):
    """Long times, and no goals."""
    tools.write_figures([tools.figure("cache-4", "MPI_Allgather on 4 hosts, with reuse of buffers", "bytes of a block", "ns",
                                      [curve("p2p", "p2p", {8: 2e7, 1 << 20: 3.1e8})])], folder)
    (folder / "summary.json").write_text("[]")


def scalability(folder):
    tools.write_figures([tools.figure("rate", "Message rate", "bytes", "messages/s", [curve("ring", "ring", {8: 3.4e6})])],
                        folder)


def tcp(folder):
    folder.mkdir(parents=True)
    for kind, times in (("fabric", (7000, 10000)), ("rma", (8400, 9000))):
        rows = [{"row": row, "median": time} for row, time in zip(("write 8 B, target polls", "read 8 B, target polls"), times)]
        (folder / f"{kind}.1.json").write_text(json.dumps({"rows": rows}))
    (folder / "tcp.json").write_text(json.dumps({"rows": [
        {"row": "message 8 B, half a round trip", "us": {"librma": 5.2, "Open MPI": 4.0, "MPICH": 4.1}}]}))
    (folder / "start.json").write_text(json.dumps({"rows": [
        {"row": "8 ranks on 2 hosts", "s": {"engine": 0.2, "rmarun": 0.3, "librma": 0.9}},
        {"row": "64 ranks on 8 hosts", "s": {"engine": 0.6, "rmarun": 0.8, "librma": 5.0}}]}))


def instructions(folder):
    """A goal that is met, one that is missed, and a row without a goal that is behind a peer."""
    folder.mkdir(parents=True)
    (folder / "counts.json").write_text(json.dumps({
        "librma": {"send": 120, "recv": 183, "isend": 118, "probe": 200}, "openmpi": {"send": 480, "isend": 484, "probe": 300},
        "mpich": {"send": 412, "probe": 190}}))


def installed(folder):
    folder.mkdir(parents=True)
    (folder / "table.json").write_text(json.dumps({"rows": [
        {"program": "quick", "ranks": 2, "open_mpi": 2.0, "librma": 1.0, "compared": 3, "wrong": ""},
        {"program": "slow", "ranks": 4, "open_mpi": 2.0, "librma": 3.0, "compared": 3, "wrong": ""},
        {"program": "absent", "ranks": 2, "open_mpi": 0.0, "librma": 0.0, "compared": 0, "wrong": "not run: no <program>"}]}))


def make(build):
    compare(build / "compare")
    verbs(build / "compare-verbs")
    tcp(build / "compare-ofi")
    instructions(build / "instructions")
    installed(build / "installed")
    host_assisted(build / "figures" / "host-assisted")
    eager_ring(build / "figures" / "eager-ring")
    allgather(build / "figures" / "allgather")
    scalability(build / "figures" / "scalability")

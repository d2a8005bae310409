"""Checks the output and exit codes of jobs with settings of their own, and of jobs that fail.

usage: job_cases.py CASE RMARUN PROGRAM
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import namedtuple

Result = namedtuple("Result", "code out err")
SKIPPED = 77


class Job:
    def __init__(self, rmarun, program):
        self.rmarun, self.program = rmarun, program

    def run(self, ranks, case, *, under_rmarun=True, wrapper=(), **settings):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("RMA_")} | settings
        launcher = [self.rmarun, "-n", str(ranks), "--timeout", "240"] if under_rmarun else []
        done = subprocess.run(
            launcher + [*wrapper, self.program, case],
            env=environment, capture_output=True, text=True, timeout=280, stdin=subprocess.DEVNULL)
        print(done.stdout, done.stderr, sep="", end="")
        return Result(done.returncode, done.stdout, done.stderr)

    def passes(self, ranks, case, **options):
        result = self.run(ranks, case, **options)
        expect(result.code == 0, f"exit code {result.code}")
        for rank in range(ranks):
            expect(f"rank {rank} of {ranks} passed" in result.out, f"rank {rank} says that it passed")
        return result


def expect(good, what):
    if not good:
        sys.exit(f"FAILED: {what}")


def no_memory(job):
    job.passes(3, "no_memory", RMA_HEAP_SIZE="16M")


def cma_off(job):
    job.passes(2, "cma_off", RMA_CMA="off", RMA_PROCESS_HEAP="0")  # it reaches memory that is not mapped


def check_counts(text, ranks):
    """Checks for one JSON object per line and rank, which count the one put and get of 1000 bytes."""
    objects = sorted((json.loads(line) for line in text.splitlines() if line.startswith("{")), key=lambda o: o["rank"])
    expect([o["rank"] for o in objects] == list(range(ranks)), "one object per rank")
    for counts in objects:
        expect(counts["put_direct"] == 1 and counts["put_bytes"] == 1000, "the put is counted")
        expect(counts["get_direct"] == 1 and counts["get_bytes"] == 1000, "the get is counted")
        expect(counts["barrier"] >= 1, "the barrier is counted")


def stats_json(job):
    check_counts(job.passes(3, "traffic", RMA_STATS="json").err, 3)


def stats_table(job):
    result = job.passes(2, "traffic", RMA_STATS="table")
    for rank in range(2):
        expect(f"rma statistics of rank {rank}" in result.err, f"a table of rank {rank}")
    rows = [line.split() for line in result.err.splitlines()]
    expect(rows.count(["put_bytes", "1000"]) == 2, "bytes put, by rank")


def stats_file(job):
    with tempfile.TemporaryDirectory() as folder:
        result = job.passes(2, "traffic", RMA_STATS="json", RMA_STATS_FILE=f"{folder}/counts.%r")
        expect("{" not in result.err, "nothing on standard error")
        expect(sorted(os.listdir(folder)) == ["counts.0", "counts.1"], "one file per rank")
        texts = [open(f"{folder}/counts.{rank}", encoding="utf-8").read() for rank in range(2)]
        check_counts("".join(texts), 2)


def trace(job):
    with tempfile.TemporaryDirectory() as folder:
        job.passes(2, "traffic", RMA_TRACE=f"{folder}/trace.%r.json")
        for rank in range(2):
            with open(f"{folder}/trace.{rank}.json", encoding="utf-8") as file:
                events = json.load(file)
            puts = [event for event in events if event["name"] == "rma_put"]
            expect(len(puts) == 1, "one event for the one put")
            expect(puts[0]["args"] == {"target": 1 - rank, "bytes": 1000}, "its target and size")
            expect(puts[0]["ph"] == "X" and puts[0]["pid"] == rank and puts[0]["dur"] >= 0, "a complete event")


def refuses(job, words, **settings):
    result = job.run(2, "traffic", **settings)
    expect(result.code == 1, f"exit code {result.code}")
    expect("passed" not in result.out, "no rank passes")
    for word in ["RMA_ERR_SETTING", "rma_init", *words]:
        expect(word in result.err, f"'{word}' in the text")


def unknown_setting(job):
    warned = job.passes(3, "traffic", RMA_HEAP_SIZ="1G", RMA_BIN="/opt/rma")
    lines = [line for line in warned.err.splitlines() if "RMA_" in line]
    expect(len(lines) == 1 and "rank 0" in lines[0], "one line, of rank 0")
    expect("no setting RMA_HEAP_SIZ; the nearest is RMA_HEAP_SIZE" in lines[0] and "RMA_BIN" in lines[0], "both names")
    expect("RMA_" not in job.passes(2, "traffic", RMA_BIN="/opt/rma", RMA_LOG="error").err, "no warning with RMA_LOG=error")
    refuses(job, ["RMA_HEAP_SIZ", "RMA_HEAP_SIZE"], RMA_HEAP_SIZ="1G", RMA_STRICT="1")


def malformed_setting(job):
    refuses(job, ["RMA_HEAP_SIZE", "12 potatoes"], RMA_HEAP_SIZE="12 potatoes")
    refuses(job, ["RMA_CMA", "sometimes", "auto", "off"], RMA_CMA="sometimes")
    refuses(job, ["RMA_MAX_REGIONS", "3"], RMA_MAX_REGIONS="3")


def unequal_settings(job):
    """The last of three ranks differs in one setting that must be equal. settings_test.cpp looks at the others."""
    for name, default, value in (("RMA_HOST_RING", "256K", "512K"), ("RMA_HOST_RING_LINES", "256", "128"),
                                 ("RMA_COLL_ALGORITHM", "auto", "p2p"), ("RMA_ATOMIC_DOMAIN", "auto", "helper"),
                                 ("RMA_MESSAGE", "2K", "4K"), ("RMA_UNEXPECTED", "16M", "8M")):
        script = f'[ "$PMIX_RANK" != 2 ] || export {name}={value}; exec "$@"'
        result = job.run(3, "traffic", wrapper=("sh", "-c", script, "sh"))
        expect(result.code == 1, f"exit code {result.code}")
        expect("passed" not in result.out, "no rank passes")
        both = (f"{name} is {value} on rank 2 and {default} on rank", f"{name} is {default} on rank")
        expect(any(words in result.err for words in both) and f"{value} on rank 2" in result.err, "both values and ranks")
        expect("RMA_ERR_SETTING" in result.err and "set it alike on all ranks" in result.err, "the error and what to do")


def alone(job):
    job.passes(1, "traffic", under_rmarun=False)
    job.passes(1, "again", under_rmarun=False)
    job.passes(1, "outside", under_rmarun=False)


def again(job):
    for ranks in (2, 5):
        job.passes(ranks, "again")


def stale(job):
    job.passes(1, "stale", under_rmarun=False)
    job.passes(3, "stale")
    job.passes(3, "stale", RMA_COLL_ALGORITHM="p2p")


def stale_request(job):
    job.passes(2, "stale_request", RMA_PROCESS_HEAP="0")  # its requests live because nothing is mapped


def forked(job):
    job.passes(1, "forked", under_rmarun=False)
    job.passes(3, "forked")


def outside(job):
    job.passes(2, "outside")


def ends(job, ranks, case, code, words):
    result = job.run(ranks, case)
    expect(result.code == code, f"exit code {result.code}, not {code}")
    expect("passed" not in result.out, "no rank passes")
    for word in words:
        expect(word in result.err, f"'{word}' in the text")


def killed(job):
    ends(job, 4, "killed", 128 + 9, ["rank 1"])


def exits_early(job):
    ends(job, 4, "exits_early", 3, ["rank 1"])


def abort(job):
    ends(job, 4, "abort", 9, ["this job has seen enough"])


def flood_both_ways(job):
    # 85 + 120 - 17 of the 600 messages are long or synchronous. More were announced only if there was no room for them.
    announced_anyway = 188
    for settings in {}, {"RMA_SPIN": "0", "RMA_YIELDS": "0"}, {"RMA_EAGER": "0"}, {"RMA_CMA": "off"}:
        result = job.passes(2, "flood_both_ways", RMA_STATS="json", RMA_UNEXPECTED="4K", RMA_HOST_RING="4K",
                            RMA_HOST_RING_LINES="16", **settings)
        objects = [json.loads(line) for line in result.err.splitlines() if line.startswith("{")]
        expect(len(objects) == 2, "one object per rank")
        for counts in objects:
            expect(counts["send_rendezvous"] > announced_anyway, "the window has run out")
            expect(counts["send_eager"] + counts["send_rendezvous"] == 600, "every message is counted once")


def churn(job):
    job.passes(2, "churn", RMA_HEAP_SIZE="16M")


def beyond_4_gib(job):
    with open("/proc/meminfo", encoding="ascii") as file:
        available = next(int(line.split()[1]) for line in file if line.startswith("MemAvailable:"))
    if available < 12 << 20:
        print(f"needs 12 GiB of memory, {available >> 20} GiB are available")
        sys.exit(SKIPPED)
    job.passes(2, "beyond_4_gib", RMA_HEAP_SIZE="5G")


if __name__ == "__main__":
    chosen, launcher, client = sys.argv[1:]
    globals()[chosen](Job(launcher, client))

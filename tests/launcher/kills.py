#!/usr/bin/env python3
"""Ends jobs at random moments, in every way, and checks that nothing of them is left.

usage: kills.py RMARUN VICTIM [--seed N] [--limit SECONDS] KIND=COUNT...

Kinds:
  rank       a random signal that ends a process, for a random rank
  leave      a random rank exits with code 3 in its first 60 ms
  launcher   SIGKILL for rmarun's second process, which runs the job
  guard      SIGKILL for rmarun itself
  interrupt  two SIGINT for rmarun's process group, as a terminal sends them
  timeout    --timeout

Half of the moments are in the first 0.3 s. In half of the jobs the survivors abort the job when they miss a rank, and in
the others they exit. Of each job it is checked that rmarun ends with the right code and names the
right rank, and that no process, no file and no shared memory is left. --limit is what may pass between the kill and the
end of the last process: generous by default, since a loaded machine is slow; the times that were seen are printed.
"""

import argparse
import contextlib
import ctypes
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

PR_SET_CHILD_SUBREAPER = 36
SHARED_MEMORY = "/dev/shm"


def children_of(pid):
    """Returns its children, oldest first. Its main thread starts all of them."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as listed:
            return [int(word) for word in listed.read().split()]
    except OSError:
        return []


def alive():
    """Returns the processes of the job, all of which are below this one. Reaps those that are its own children."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        return []
    found = children_of(os.getpid())
    for pid in found:
        found += children_of(pid)
    return found


def shared_memory():
    return {name for name in os.listdir(SHARED_MEMORY) if "rma" in name or "pmix" in name}


class Failure(Exception):
    pass


class Trial:
    """One job and its end."""

    def __init__(self, arguments, kind, rng):
        self.arguments = arguments
        self.kind = kind
        self.ranks = rng.choice((2, 3, 4, 7))
        self.victim = rng.randrange(self.ranks)
        self.moment = rng.uniform(0, 0.3) if rng.random() < 0.5 else rng.uniform(0.3, 1)
        self.gap = rng.uniform(0, 0.6)  # between two SIGINT
        self.stubborn = rng.random() < 0.3
        self.aborts = rng.random() < 0.5
        self.signal = rng.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGSEGV, signal.SIGBUS, signal.SIGUSR1))
        self.microseconds = rng.randrange(60000)

    def run(self, directory):
        command = [self.arguments.rmarun, "-n", str(self.ranks)]
        if self.kind == "timeout":
            command += ["--timeout", f"{self.moment + 0.001:.3f}"]
        command += [self.arguments.victim]
        if self.stubborn:
            command += ["stubborn"]
        if self.aborts:
            command += ["abort"]
        if self.kind == "leave":
            command += ["leave", str(self.victim), str(self.microseconds)]
        with open(os.path.join(directory, "err"), "w+", encoding="utf-8") as err:
            self.start = time.monotonic()
            self.job = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err,
                                        start_new_session=True, env={**os.environ, "TMPDIR": directory})
            try:
                code, said, killed = self.end()
                elapsed = self.await_end(killed)
            except Exception:
                self.sweep()
                raise
            err.seek(0)
            text = err.read()
        if self.job.returncode not in (code if isinstance(code, tuple) else (code,)):
            raise Failure(f"exit code {self.job.returncode}, not {code}: {text}")
        if said not in text:
            raise Failure(f"{said!r} is not in {text!r}")
        return elapsed

    def end(self):
        """Checks the end: the exit code, the text that it must print, and the time."""
        now = self.start
        if self.kind == "timeout":
            return 124, "", now + self.moment
        if self.kind == "leave":
            return 3, f"rank {self.victim} ", now + self.microseconds / 1e6
        time.sleep(self.moment)
        if self.kind == "guard":
            self.job.kill()
            return -signal.SIGKILL, "", time.monotonic()
        if self.kind == "interrupt":
            os.killpg(self.job.pid, signal.SIGINT)
            now = time.monotonic()
            time.sleep(self.gap)
            if self.job.poll() is None:
                os.killpg(self.job.pid, signal.SIGINT)
            # Before main() has blocked it, the signal ends rmarun itself.
            return (128 + signal.SIGINT, -signal.SIGINT), "", now
        launcher = self.await_child(self.job.pid, 0)
        if self.kind == "launcher":
            os.kill(launcher, signal.SIGKILL)
            return 128 + signal.SIGKILL, "ended by signal 9", time.monotonic()
        rank = self.await_child(launcher, self.victim)
        os.kill(rank, self.signal)
        return (128 + self.signal, f"rank {self.victim} (pid {rank}) was killed by signal {self.signal:d} ",
                time.monotonic())

    def await_child(self, pid, number):
        while time.monotonic() < self.start + self.arguments.limit:
            listed = children_of(pid)
            if len(listed) > number:
                return listed[number]
            time.sleep(0.001)
        raise Failure(f"process {pid} has no child number {number}")

    def await_end(self, killed):
        while True:
            self.job.poll()
            left = alive() if self.job.returncode is not None else [self.job.pid]
            elapsed = time.monotonic() - killed
            if not left:
                return elapsed
            if elapsed > self.arguments.limit:
                raise Failure(f"after {elapsed:.1f} s there is still {describe(left)}")
            time.sleep(0.002)

    def sweep(self):
        self.job.kill()
        self.job.wait()
        left = alive()
        while left:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):  # it ended when another one was killed
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)
            left = alive()


def describe(pids):
    lines = []
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", encoding="latin-1") as stat:
                lines.append(" ".join(stat.read().split()[:4]))
        except OSError:
            pass
    return "; ".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rmarun")
    parser.add_argument("victim")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("counts", nargs="+", metavar="KIND=COUNT")
    arguments = parser.parse_args()
    counts = {kind: int(count) for kind, count in (each.split("=") for each in arguments.counts)}
    unknown = counts.keys() - {"rank", "leave", "launcher", "guard", "interrupt", "timeout"}
    if unknown:
        parser.error(f"no such kind: {', '.join(unknown)}")

    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    print(f"seed {arguments.seed}", flush=True)
    rng = random.Random(arguments.seed)
    before = shared_memory()
    failures = 0
    for kind, count in counts.items():
        times = []
        for number in range(count):
            trial = Trial(arguments, kind, rng)
            with tempfile.TemporaryDirectory(prefix="launcher-kills-") as directory:
                try:
                    times.append(trial.run(directory))
                    left = sorted(set(os.listdir(directory)) - {"err"})
                    if left:
                        raise Failure(f"files are left: {left}")
                except Failure as failure:
                    failures += 1
                    print(f"{kind} {number} (of {trial.ranks} ranks, {trial.victim} at {trial.moment:.3f} s"
                          f"{', stubborn' if trial.stubborn else ''}{', aborts' if trial.aborts else ''}): {failure}", flush=True)
        if times:
            times.sort()
            print(f"{kind}: {len(times)} of {count} held; gone after {times[len(times) // 2]:.3f} s (median), "
                  f"{times[-1]:.3f} s (longest)", flush=True)
    # Jobs of other tests may have something there for a while.
    give_up = time.monotonic() + arguments.limit
    while shared_memory() - before and time.monotonic() < give_up:
        time.sleep(0.05)
    if shared_memory() - before:
        failures += 1
        print(f"left in {SHARED_MEMORY}: {shared_memory() - before}")
    return failures != 0


sys.exit(main())

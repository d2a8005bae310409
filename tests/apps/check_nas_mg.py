"""Runs nas_mg under the launcher and checks its output and its end: check_nas_mg.py CHECK RMARUN NAS_MG."""

import json
import subprocess
import sys

RMARUN, NAS_MG = sys.argv[2:4]


def run(ranks, *arguments):
    command = [RMARUN, "-n", str(ranks), "--timeout", "120", NAS_MG, *arguments]
    print(" ".join(command))
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    print(f"exit code {done.returncode}\n{done.stdout}{done.stderr}", flush=True)
    return done


def expect(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def check_json():
    """Checks that a run prints all its results, and nothing else on either stream."""
    done = run(4, "--class", "s", "--json")
    expect(done.returncode == 0 and done.stderr == "", "exit code 0 without a word")
    document = json.loads(done.stdout)
    expect((document["class"], document["side"], document["iterations"]) == ("S", 32, 4), "the problem")
    expect(document["ranks"] == 4 and document["grid"] == {"x": 1, "y": 2, "z": 2}, "the grid")
    expect(document["verified"] is True and 0 <= document["relative_error"] <= 1e-8, "verified")
    expect(abs(document["norm"] - 0.5307707005734e-4) < 1e-12, "the norm")
    operations = 58 * 4 * 32**3
    expect(document["seconds"] > document["exchange_seconds"] > 0, "the times")
    expect(abs(document["mops"] * document["seconds"] * 1e6 / operations - 1) < 1e-6, "the rate")


def check_wrong_charge():
    """Checks that one slightly wrong charge makes the verification and the program fail."""
    for ranks in (1, 4):
        done = run(ranks, "--inject-error", "--json")
        expect(done.returncode == 1, "exit code 1")
        expect(json.loads(done.stdout)["verified"] is False, "not verified")
        done = run(ranks, "--inject-error")
        expect(done.returncode == 1, "exit code 1")
        expect("VERIFICATION FAILED" in done.stdout and "5.3077070057340e-05" in done.stdout, "what it should be")


def check_iterations():
    """Checks a run with another number of iterations than the class's, which has no norm to compare with."""
    done = run(2, "--iterations", "3", "--json")
    expect(done.returncode == 0, "exit code 0")
    document = json.loads(done.stdout)
    expect(document["iterations"] == 3 and document["verified"] is None, "neither right nor wrong")
    expect("VERIFICATION" not in run(2, "--iterations", "3").stdout, "no verdict")


def check_refused():
    """Checks that a run is refused, once and not by every rank."""
    for ranks, arguments, reason in (
        (3, [], "started as 3 ranks; the number of ranks has to be a power of two"),
        (4, ["--grid", "1,1,2"], "a grid of 1 x 1 x 2 ranks, but started as 4"),
        (2, ["--grid", "2,1"], "--grid: 3 required X,Y,Z missing"),
        (2, ["--class", "Q"], "--class: Q not in {S,W,A,B,C}"),
        (2, ["--iterations", "0"], "--iterations: Value 0 not in range"),
    ):
        done = run(ranks, *arguments)
        expect(done.returncode != 0, "an exit code that is not 0")
        expect((done.stdout + done.stderr).count(reason) == 1, f"one message: {reason}")


globals()["check_" + sys.argv[1]]()

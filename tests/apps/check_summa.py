"""Runs summa under the launcher and checks its output and its end: check_summa.py CHECK RMARUN SUMMA."""

import json
import subprocess
import sys

RMARUN, SUMMA = sys.argv[2:4]


def run(ranks, *arguments):
    command = [RMARUN, "-n", str(ranks), "--timeout", "120", SUMMA, *arguments]
    print(" ".join(command))
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    print(f"exit code {done.returncode}\n{done.stdout}{done.stderr}", flush=True)
    return done


def shape(m, n, k):
    return ["--m", str(m), "--n", str(n), "--k", str(k)]


def expect(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def check_json():
    """Checks both modes in one document, with the counts that follow from shape and grid."""
    done = run(4, *shape(64, 48, 40), "--block", "10", "--mode", "both", "--verify", "--json")
    expect(done.returncode == 0, "exit code 0")
    document = json.loads(done.stdout)
    expect((document["m"], document["n"], document["k"], document["block"]) == (64, 48, 40, 10), "the shape")
    expect(document["ranks"] == 4 and document["grid"] == {"rows": 2, "columns": 2}, "the grid")
    expect([one["mode"] for one in document["runs"]] == ["overlap", "blocking"], "the modes")
    expect(isinstance(document["gain"], float), "the gain")
    for one in document["runs"]:
        expect(one["verified"] is True and one["exact"]["wrong_elements"] == 0, "verified exactly")
        expect(one["freivalds"]["rounds"] >= 10 and one["freivalds"]["wrong_rows"] == 0, "Freivalds' check")
        # Four steps, each with a panel of A and one of B, on each of four ranks; all of k by 32 rows and by 24 columns.
        expect(one["panels"] == 4 * 2 * 4 and one["bytes"] == 4 * 40 * (32 + 24) * 8, "panels and bytes")
        expect(one["seconds"] > 0 and one["gflops"] > 0, "the time")
        expect(0 <= one["communication_share"] <= 1, "the share of communication")


def check_reals():
    """Checks a size too large for the exact comparison: reals, with Freivalds' check alone and a tight bound."""
    done = run(3, *shape(300, 260, 280), "--verify", "--json")
    expect(done.returncode == 0, "exit code 0")
    (one,) = json.loads(done.stdout)["runs"]
    expect(one["verified"] is True and "exact" not in one, "verified, not exactly")
    expect(0 < one["freivalds"]["worst_error_of_bound"] < 1, "rounding errors within the bound")


def check_wrong_integer():
    """Checks that both checks find one wrong element, at any place."""
    for element in ("0,0", "40,12", "63,47"):
        done = run(4, *shape(64, 48, 40), "--verify", "--json", "--inject-error", element)
        expect(done.returncode == 1, "exit code 1")
        (one,) = json.loads(done.stdout)["runs"]
        expect(one["verified"] is False, "not verified")
        expect(one["exact"]["wrong_elements"] == 1 and one["freivalds"]["wrong_rows"] == 1, "found by both")


def check_wrong_real():
    """Checks that Freivalds' check alone finds one wrong element."""
    done = run(4, *shape(300, 260, 280), "--verify", "--json", "--inject-error", "299,0")
    expect(done.returncode == 1, "exit code 1")
    (one,) = json.loads(done.stdout)["runs"]
    expect(one["verified"] is False and one["freivalds"]["wrong_rows"] == 1, "found")


def check_wrong_option():
    """Checks that a run is refused, once and not by every rank."""
    done = run(3, "--block", "0")
    expect(done.returncode != 0, "an exit code that is not 0")
    expect((done.stdout + done.stderr).count("--block: Value 0 not in range") == 1, "one message")


globals()["check_" + sys.argv[1]]()

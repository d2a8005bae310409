#!/usr/bin/env python3
"""Tests that the measuring scripts go on after a failed run of another project's program. Programs made up here stand in
for perftest, the bare device, and the cluster's two hosts."""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
import compare_verbs_table as verbs  # noqa: E402

# Both hosts are this machine.
SSH = '#!/bin/bash\nshift\nexec bash -c "$*"\n'
SS = "#!/bin/bash\necho LISTEN 0 1 0.0.0.0:18515\n"
CLUSTER_RUN = """#!/bin/bash
while [ "$1" != --json ]; do shift; done
cat "$FAKES/ours.json" > "$2"
"""
# A server waits for its client, and if the client gives up, for ever. The first runs of a client end as perftest's do
# without a usable clock.
PERFTEST = """#!/bin/bash
name=$(basename "$0")
case ${!#} in
  node*) ;;
  *)
    echo $$ >> "$FAKES/servers"
    until [ -e "$FAKES/$name.done" ]; do sleep 0.01; done
    rm "$FAKES/$name.done"
    exit 0
    ;;
esac
echo run >> "$FAKES/$name.runs"
if [ "$(wc -l < "$FAKES/$name.runs")" -le "$(cat "$FAKES/$name.fails" 2> /dev/null || echo 0)" ]; then
  echo "Correlation coefficient r^2: 0.811 < 0.9"
  echo " #bytes #iterations    t_min[usec]"
  exit $(($(wc -l < "$FAKES/$name.runs") % 2))
fi
until [ -s "$FAKES/servers" ]; do sleep 0.01; done
touch "$FAKES/$name.done"
case $name in
  *_lat)
    echo " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]"
    echo " 8       1000          497.02         72104.29      2793.34"
    ;;
  *)
    echo " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]"
    echo " 65536      2000             8.62               5.72             0.000091"
    ;;
esac
"""
RAW_VERBS = """#!/bin/bash
echo $$ >> "$FAKES/servers"
case " $* " in
  *" --connect "*) ;;
  *) exec sleep "$([ -e "$FAKES/fails" ] && echo 60 || echo 0)" ;;
esac
echo run >> "$FAKES/runs"
[ ! -e "$FAKES/fails" ] || exit 1
while [ "$1" != --json ]; do shift; done
echo '{}' > "$2"
"""
PROGRAMS = ("ib_write_lat", "ib_read_lat", "ib_atomic_lat", "ib_write_bw", "ib_read_bw")
OURS = {
    "backend": "rma",
    "ranks": 2,
    "rows": [
        {"suite": "latency", "row": row, "unit": "ns", "median": 1e6, "min": 1e5}
        for row in ("put latency 8 B", "get latency 8 B", "fetch-add latency")
    ],
}


class Attempts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.fakes = pathlib.Path(folder.name)
        self.results = self.fakes / "results"
        self.results.mkdir()
        (self.fakes / "ours.json").write_text(json.dumps(OURS))
        self.program("ssh", SSH)
        self.program("ss", SS)
        self.program("cluster-run", CLUSTER_RUN)
        for name in PROGRAMS:
            self.program(name, PERFTEST)

    def program(self, name, text):
        path = self.fakes / name
        path.write_text(text)
        path.chmod(0o755)

    def run_script(self, script, *arguments):
        environment = dict(os.environ, PATH=f"{self.fakes}:{os.environ['PATH']}", FAKES=str(self.fakes),
                           CLUSTER_RESULTS=str(self.results), CLUSTER_HOSTS="2")
        return subprocess.run(["bash", BENCH / script, *arguments], env=environment, capture_output=True, text=True,
                              timeout=120)

    def fails(self, name, times):
        (self.fakes / f"{name}.fails").write_text(str(times))

    def runs(self, name):
        return len((self.fakes / f"{name}.runs").read_text().splitlines())

    def servers_left(self):
        """Returns those that still run. A process that has ended counts as ended before it is waited for."""
        left = []
        for pid in (self.fakes / "servers").read_text().split():
            with contextlib.suppress(OSError):
                state = pathlib.Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0]
                left += [pid] if state != "Z" else []
        return left

    def compare(self, rounds="1"):
        return self.run_script("compare_verbs_rounds.sh", "network-bench", "1", rounds, "raw", "2", "1")

    def test_a_run_that_fails_is_repeated(self):
        self.fails("ib_write_lat", 2)
        ran = self.compare()
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(self.runs("ib_write_lat"), 3)
        self.assertIn("failed, attempt 2 of 3", ran.stderr)
        self.assertIn("r^2: 0.811 < 0.9", ran.stderr)
        self.assertEqual(len(list(self.results.rglob("*.raw"))), 7)
        self.assertEqual(self.servers_left(), [])

    def test_a_row_that_stays_empty_does_not_end_the_rest(self):
        self.fails("ib_read_lat", 1000)
        ran = self.compare("2")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("left empty", ran.stderr)
        self.assertEqual(self.runs("ib_read_lat"), 6)
        self.assertEqual(len(list(self.results.rglob("*.raw"))), 2 * 6)
        self.assertEqual(self.servers_left(), [])
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertEqual(verbs.main([str(self.results)]), 0)
        self.assertRegex(out.getvalue(), r"put latency 8 B +us")
        self.assertIn("not measured by perftest: get latency 8 B", out.getvalue())
        self.assertIn("2 goals", out.getvalue())

    def test_figures_go_on_without_the_bare_device(self):
        self.program("raw-verbs", RAW_VERBS)
        # It is measured in two forms, raw and bare. Each is tried three times.
        for fails, runs in ((False, 2), (True, 6)):
            (self.fakes / "runs").unlink(missing_ok=True)
            if fails:
                (self.fakes / "fails").touch()
            ran = self.run_script("papers/host_assisted_rounds.sh", str(self.fakes), "1", "1")
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertEqual(len((self.fakes / "runs").read_text().splitlines()), runs)
            self.assertTrue((self.results / "round-1" / "idle.json").exists())
        for form in ("raw", "bare"):
            self.assertFalse((self.results / "round-1" / f"{form}.json").exists())
        self.assertEqual(self.servers_left(), [])


if __name__ == "__main__":
    unittest.main()

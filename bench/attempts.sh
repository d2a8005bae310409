# shellcheck shell=bash
# Functions for the scripts that also measure with programs of other projects. They source this file.

# The number of attempts before a row stays empty. perftest sometimes fails to calibrate its clock ("Correlation
# coefficient r^2 ... < 0.9"), and succeeds the next time.
attempts=3

# Runs a server on another host. The caller must end it if its client fails, because it may wait for ever.
# start_there HOST COMMAND: runs the command there, in the background here. The caller waits for $!.
start_there() {
  # shellcheck disable=SC2029 # the path is the same on both hosts
  ssh "$1" "rm -f $there"
  # shellcheck disable=SC2029 # the path is the same on both hosts
  ssh "$1" "echo \$\$ > $there; exec $2" &
}
# end_there HOST: ends the command. Called once after start_there.
end_there() {
  # shellcheck disable=SC2029
  ssh "$1" "until [ -s $there ]; do sleep 0.1; done; kill \$(cat $there)" 2> /dev/null || true
}
there=/tmp/librma-bench-server.$$

# attempt NAME COMMAND...: runs the command until it succeeds, at most $attempts times. If it never does, prints a
# message and fails; the caller leaves the row empty and goes on. The command must not rely on errexit.
attempt() {
  local name=$1 try
  shift
  for ((try = 1; try <= attempts; ++try)); do
    if "$@"; then return 0; fi
    echo "$name failed, attempt $try of $attempts" >&2
  done
  echo "$name: left empty" >&2
  return 1
}

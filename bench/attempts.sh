# shellcheck shell=bash
# Sourced by the scripts that measure with programs of others beside ours.

# How often such a program is run before its row stays empty: perftest gives up now and then where its clock cannot be
# calibrated ("Correlation coefficient r^2 ... < 0.9"), and does better the next time.
attempts=3

# A server on another host, which is to end when its client has failed: it may wait for that one for ever.
# start_there HOST COMMAND: runs the command there, in the background here: $! is to be waited for.
start_there() {
  # shellcheck disable=SC2029 # the path is the same on both hosts
  ssh "$1" "rm -f $there"
  # shellcheck disable=SC2029 # the path is the same on both hosts
  ssh "$1" "echo \$\$ > $there; exec $2" &
}
# end_there HOST: after start_there, once.
end_there() {
  # shellcheck disable=SC2029
  ssh "$1" "until [ -s $there ]; do sleep 0.1; done; kill \$(cat $there)" 2> /dev/null || true
}
there=/tmp/librma-bench-server.$$

# attempt NAME COMMAND...: runs the command until it succeeds, at most $attempts times. Fails when it never did, and
# says so: whoever measures leaves the row empty and goes on. The command may not rely on errexit.
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

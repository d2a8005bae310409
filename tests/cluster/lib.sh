# Functions of the scripts in this folder. Source it first, and call `finish` last.
#
#   step NAME COMMAND...         runs it and prints one line: passed or FAILED, the name, the seconds. Its output is
#                                shown if it fails, or with VERBOSE=1 in the environment. A failed step fails the
#                                script at its end, and the steps behind it still run.
#   expect_exit CODE COMMAND...  succeeds if the command's exit code is this one
#   expect_text REGEX COMMAND... succeeds if the command prints a line that matches (grep -E), with any exit code
#   limited KB COMMAND...        runs it on one rank of each host (RANKS: on so many), which may register so much memory
#                                and has no capability to register more
#   with_setting FILE VALUE COMMAND...
#                                runs it while this file of /proc/sys or /sys has this value on every emulated host. Hosts
#                                that are not emulated keep their own
#   random_addresses COMMAND...  runs it while programs get random addresses. On the emulated hosts they lie at the same
#                                addresses otherwise, which costs the emulators less
#   finish                       a summary; exits with 1 if a step failed, or if there was none
#   run_scripts PROGRAMS NAME... instead of steps: runs these scripts of this folder, one after the other, and exits
steps=0
failures=()

step() {
  local name=$1 log started=${EPOCHREALTIME/./} status=0 seconds
  shift
  log=$(mktemp)
  "$@" > "$log" 2>&1 || status=$?
  seconds=$(((${EPOCHREALTIME/./} - started) / 100000))
  steps=$((steps + 1))
  printf '%s  %s  %d.%d s\n' "$([ $status -eq 0 ] && echo 'passed' || echo 'FAILED')" "$name" \
    $((seconds / 10)) $((seconds % 10))
  if [ $status -ne 0 ]; then
    failures+=("$name")
    echo "        exit code $status of: $*"
  fi
  if [ $status -ne 0 ] || [ "${VERBOSE:-0}" != 0 ]; then tail -n 100 "$log" | sed 's/^/        /'; fi
  rm -f "$log"
}

expect_exit() {
  local expected=$1 status=0
  shift
  "$@" || status=$?
  [ $status -eq "$expected" ] && return
  echo "the exit code is $status, not $expected"
  return 1
}

expect_text() {
  local expected=$1 output
  shift
  output=$("$@" 2>&1) || true
  printf '%s\n' "$output"
  grep -qE -- "$expected" <<< "$output" && return
  echo "no line matches '$expected'"
  return 1
}

limited() {
  local kb=$1
  shift
  cluster-run -n "${RANKS:-1}" -- \
    bash -c "ulimit -l $kb && exec setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock -- \"\$@\"" limited "$@"
}

with_setting() {
  local file=$1 value=$2 before status=0
  shift 2
  # A file of /sys shows all words that it takes, and the one in force in brackets.
  before=$(sed 's/.*\[\(.*\)\].*/\1/' "$file")
  set_on_hosts "$file" "$value" && "$@" || status=$?
  set_on_hosts "$file" "$before" || return
  return $status
}
set_on_hosts() { # FILE VALUE
  local i
  [ -n "${CLUSTER_PARTS:-}" ] || return 0
  for ((i = 1; i <= CLUSTER_HOSTS; i++)); do ssh "node$i" "echo $2 > $1" || return; done
}
random_addresses() { with_setting /proc/sys/kernel/randomize_va_space 2 "$@"; }

finish() {
  echo "$((steps - ${#failures[@]})) of $steps steps passed"
  [ $steps -gt 0 ] && [ ${#failures[@]} -eq 0 ]
  exit
}

run_scripts() {
  local programs=$1 script status=0
  shift
  for script in "$@"; do
    echo "$script.sh"
    bash "$(dirname "$0")/$script.sh" "$programs" || status=1
  done
  exit $status
}

# multi FILTER [NAME=VALUE...]: these tests of several ranks, two on each host (RANKS: so many), with these settings,
# from $programs
multi() {
  local filter=$1 settings=()
  shift
  while [ $# -gt 0 ]; do
    settings+=(--env "$1")
    shift
  done
  cluster-run -n "${RANKS:-2}" --timeout 300 "${settings[@]}" -- "$programs/rma-multi-tests" --gtest_filter="$filter"
}

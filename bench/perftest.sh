# shellcheck shell=bash
# A function for the scripts that measure the device by Debian's perftest. They source this file after attempts.sh, and
# set `peer` to the host of the servers.

# perftest OUTPUT PROGRAM OPTION...: runs the program once, with its server on the other host. Succeeds if there is a
# table. Requests are repeated after librma's default timeout (4.096 us * 2^18), because perftest's own 67 ms would
# repeat them while large reads are under way.
perftest() {
  local output=$1 server good=0
  shift
  set -- "$@" -u 18
  start_there "$peer" "$*" > "$output.server" 2>&1
  server=$!
  until ssh "$peer" "ss -ltn | grep -q :18515"; do
    kill -0 $server 2> /dev/null || break
    sleep 0.1
  done
  if timeout 300 "$@" "$peer" > "$output" 2>&1 && grep -A 1 '^ *#bytes' "$output" | grep -q '^ *[0-9]'; then
    good=1
  else
    end_there "$peer"
  fi
  wait $server || true
  [ $good = 1 ] && return 0
  cat "$output" "$output.server" >&2
  rm -f "$output"
  return 1
}

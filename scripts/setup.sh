#!/usr/bin/env bash
# Makes sure that the Debian packages of the named groups are installed. As root it installs missing packages. Otherwise
# it prints the command that installs them, and fails. If none is missing it changes nothing. It does not start the
# services of a package (the cluster's ssh and Slurm servers) on this machine.
#
# usage: scripts/setup.sh [GROUP...]     (the groups of scripts/packages.sh; the default is build)
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-} in
  -h | --help)
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' scripts/setup.sh
    exit 0
    ;;
esac
if ! command -v dpkg-query > /dev/null; then
  echo 'setup: this is not Debian; taking it that these packages are there in some form:' >&2
  scripts/packages.sh "$@" | paste -sd ' ' >&2
  exit 0
fi

missing=()
for package in $(scripts/packages.sh "$@"); do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
  echo 'setup: some Debian packages are missing. Install them with this line, then try again:' >&2
  echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
  exit 1
fi

echo "setup: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Debian calls this program before it starts a service. A machine that has its own program keeps it.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  trap 'rm -f "$log" $policy' EXIT
  printf '#!/bin/sh\nexit 101\n' > $policy
  chmod +x $policy
fi
if ! { apt-get update && apt-get install -y --no-install-recommends "${missing[@]}"; } > "$log" 2>&1 < /dev/null; then
  tail -n 30 "$log" >&2
  echo 'setup: apt-get failed; its last lines are above' >&2
  exit 1
fi

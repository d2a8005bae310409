#!/usr/bin/env bash
# Runs programs of Debian that are installed for Open MPI, on Open MPI and on librma in turn. Compares their results, and
# prints their times. It installs what is missing (about 1 GB for all programs). docs/installed-programs.md explains it.
#
# usage: bench/installed.sh [--list] [--rounds N] [--ranks N] [--json FILE] [--hosts LIST] [--agent A] [--two-hosts]
#                           [--work DIR] [PROGRAM...]
#   --list         name the programs, and end
#   --rounds N     how often each is run; times are medians (default 3)
#   --ranks N      only with so many ranks
#   --json FILE    where the table goes as JSON
#   --hosts LIST   hosts for both launchers' --host, such as a,b
#   --agent A      the remote shell for these hosts, instead of ssh
#   --two-hosts    on two hosts that are emulated here by network namespaces (root only)
#   --work DIR     a folder for the runs, which all hosts must have (default /tmp)
# Ends with 1 if a program was wrong, or could not be run.
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-} in
  -h | --help)
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' bench/installed.sh
    exit 0
    ;;
esac
scripts/setup.sh build installed
scripts/build.sh release rmarun rma_openmpi rma_openmpi_mpi_mpifh rma_openmpi_mpi_usempif08 rma_openmpi_mpi_cxx > /dev/null
exec python3 bench/installed/run.py --rmarun "$PWD/build/bin/rmarun" "$@"

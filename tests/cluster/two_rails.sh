#!/usr/bin/env bash
# The scripts that need two hosts with two devices each, in one boot. For cluster.sh --hosts 2 --rails 2; the argument is
# the folder with the programs.
. "$(dirname "$0")/lib.sh"
run_scripts "$1" network losses

#!/usr/bin/env bash
# The tests of several ranks (tests/multi) between hosts, two ranks on each, so that targets of the own host and of
# others mix in one program. For cluster.sh --hosts 2; the argument is the folder with the programs.
. "$(dirname "$0")/lib.sh"
programs=$1

for suite in Memory Contiguous Strided Vector Accumulate Atomic Notify Mutex Order Request Thread Team Collective \
  Misuse; do
  step "$suite" multi "$suite.*"
done
finish

#!/usr/bin/env bash
# giov_order.sh CC INCLUDE...: checks that compilers with that warning warn of an armci_giov_t filled in by
# position,
# unless the program turns the warning off.
set -euo pipefail
cc=$1
shift
source=$(dirname "$0")/giov_order.c
compile=("$cc" -fsyntax-only -Werror "${@/#/-I}" "$source")
if ! echo '#if !__has_attribute(designated_init)
#error
#endif' | "$cc" -fsyntax-only -x c - 2> /dev/null; then
  echo "this compiler knows no such warning: only the second half is tested"
elif "${compile[@]}" 2> /dev/null; then
  echo 'the compiler did not warn' >&2
  exit 1
fi
"${compile[@]}" -D RMA_ARMCI_POSITIONAL_GIOV

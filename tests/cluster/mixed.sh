#!/usr/bin/env bash
# The tests of programs with several interfaces (tests/mixed) between hosts. For cluster.sh --hosts 2; the argument is the
# folder with the programs.
. "$(dirname "$0")/lib.sh"
programs=$1

# mixed RANKS PROGRAM [ARGUMENT...]: RANKS as of cluster-run
mixed() {
  local ranks=$1 program=$2
  shift 2
  cluster-run -n "$ranks" --timeout 200 -- "$programs/$program" "$@"
}

# The orders of begin and end that have nothing in common; tests/mixed has them all, within a host.
for orders in 'amrs amrs' 'rsam samr'; do
  step "begin and end: $orders" mixed 2 mixed-orders-plain $orders
done
step 'beside the own MPI' mixed 2 mixed-orders-rma masr rsam
step 'uneven hosts' mixed 1,2 mixed-orders-plain mars mars
step 'the example' mixed 2 example-mixed_transpose
finish

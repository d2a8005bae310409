#!/usr/bin/env bash
# message_cases.sh RMARUN PROGRAM: checks how misuse of messages ends the job.
set -u
rmarun=$1 program=$2 failed=0

# misuse CASE RANKS WORDS...: the job must fail and print these words.
misuse() {
  local case=$1 ranks=$2 output status word
  shift 2
  output=$("$rmarun" -n "$ranks" --timeout 120 "$program" "$case" 2>&1)
  status=$?
  if [ $status -eq 0 ]; then
    echo "$case: the job did not fail"
    failed=1
  fi
  for word in "$@"; do
    if [[ $output != *"$word"* ]]; then
      echo "$case: nothing says \"$word\": $output"
      failed=1
    fi
  done
}

misuse early 1 armci_msg_barrier "neither armci_msg_init nor ARMCI_Init"
misuse early-me 1 armci_msg_me "neither armci_msg_init nor ARMCI_Init"
for ranks in 1 2; do
  misuse short $ranks armci_msg_rcv "tag 3" "process 0" "100 bytes" "only 99"
  misuse middle $ranks armci_msg_rcv "50000 bytes" "only 99"
  misuse long $ranks armci_msg_rcv "200000 bytes" "only 99"
done
misuse to 2 armci_msg_snd "no process 2"
misuse from 1 armci_msg_rcv "no process -1"
misuse length 1 armci_msg_snd "-1 bytes"
misuse null 1 armci_msg_rcv "8 bytes"
misuse root 2 armci_msg_bcast "no root 2"
misuse operator 1 armci_msg_dgop '"averag"'
misuse bitwise 1 armci_msg_dgop '"bor" is for integers' ARMCI_DOUBLE
misuse select 1 armci_msg_sel min max
misuse type 1 armci_msg_gop_scope "type 7" ARMCI_DOUBLE
misuse scope 1 armci_msg_gop_scope "scope 1" "SCOPE_NODE 337"
exit $failed

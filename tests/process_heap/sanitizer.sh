#!/bin/sh
# A program with AddressSanitizer runs under rmarun, alone and from a script, and its errors are found.
#
# usage: sanitizer.sh COMPILER RMARUN
set -eu
compiler=$1 rmarun=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/program.c" << 'END'
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  volatile char* const block = malloc(100);
  block[1] = 1;
  if (argc > 1) free((void*)block);
  printf("%s %d\n", argv[0] != NULL ? "read" : "", block[1]);
  if (argc == 1) free((void*)block);
  return 0;
}
END
"$compiler" -g -w -fsanitize=address "$work/program.c" -o "$work/program"
for command in "$work/program" "sh -c $work/program"; do
  out=$("$rmarun" -n 1 --timeout 60 $command 2>&1)
  [ "$out" = "read 1" ] || { echo "'$command' printed: $out" >&2 && exit 1; }
done
if out=$("$rmarun" -n 1 --timeout 60 "$work/program" wrong 2>&1); then exit 1; fi
case $out in
  *heap-use-after-free*) ;;
  *) echo "the error was not found: $out" >&2 && exit 1 ;;
esac

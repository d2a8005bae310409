#!/usr/bin/env bash
# mpi.h compiles without a warning, as a file of its own, in C99 and in C++17. So does a program that passes the
# constants which are addresses, while the compiler optimizes.
#
# usage: header.sh CC CXX FOLDER_OF_MPI_H
set -euo pipefail
warnings=(-Wall -Wextra -Werror -pedantic -Wshadow -Wconversion -Wundef)
source='#include <mpi.h>
#include <mpi.h>
int main(void) { return MPI_Comm_c2f(MPI_COMM_WORLD) == 257 ? 0 : 1; }'
"$1" -std=c99 "${warnings[@]}" -Wstrict-prototypes -I "$3" -fsyntax-only -x c - <<< "$source"
"$2" -std=c++17 "${warnings[@]}" -I "$3" -fsyntax-only -x c++ - <<< "${source//\(void\)/()}"
# Not as a system's header, whose warnings the compiler keeps to itself.
"$1" -std=c99 "${warnings[@]}" -fsyntax-only -x c "$3/mpi.h"
"$2" -std=c++17 "${warnings[@]}" -fsyntax-only -x c++ "$3/mpi.h"
program=$(dirname "$0")/address_constants.c
"$1" -std=c99 -O2 "${warnings[@]}" -I "$3" -S -o /dev/null "$program"
"$2" -std=c++17 -O2 "${warnings[@]}" -I "$3" -S -o /dev/null -x c++ "$program"

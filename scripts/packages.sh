#!/usr/bin/env bash
# Prints the Debian packages that this project needs, by group. This is the only list of them.
#
# usage: scripts/packages.sh [GROUP...]
#   build      to build the library, its programs and its tests (the default)
#   ci         the additional packages of .ci/run
#   cluster    to run scripts/cluster.sh and the tests that use it
#   peers      the libraries that bench/compare.sh measures
#   installed  the programs that bench/installed.sh runs, and their examples (about 1 GB)
#   report     a browser, with which a test looks at the page of bench/report.sh
set -euo pipefail

build='build-essential g++ gfortran cmake ninja-build pkg-config python3 git help2man file patch
  libpmix-dev libibverbs-dev libfabric-dev libfabric-bin librust-jemalloc-sys-dev libhwloc-dev libopenblas-dev
  libfmt-dev libspdlog-dev libcli11-dev nlohmann-json3-dev libgtest-dev libgmock-dev'
ci='ccache clang clang-format clang-tidy libclang-rt-dev lld
  openmpi-bin libopenmpi-dev mpich libmpich-dev valgrind python3-numpy'
cluster='qemu-system-x86 busybox-static cpio kmod iproute2 openssh-server openssh-client
  rdma-core ibverbs-providers ibverbs-utils perftest openmpi-bin
  munge slurmctld slurmd slurm-client slurm-wlm-basic-plugins'
peers='openmpi-bin libopenmpi-dev mpich libmpich-dev libarmci-mpi-dev libcoarrays-openmpi-dev libcoarrays-mpich-dev'
installed='openmpi-bin libopenmpi-dev dpkg-dev netpipe-openmpi hpcc scalapack-mpi-test python3-mpi4py
  lammps lammps-examples gromacs nwchem-openmpi nwchem-data quantum-espresso quantum-espresso-data cp2k cp2k-data
  libpetsc-real3.18-dev libpetsc3.18-dev-examples openfoam openfoam-examples code-saturne-bin
  python3-h5py-mpi libnetcdf-mpi-dev libp4est-dev'
# Either of Debian's programs does; this is the smaller one.
report='chromium-headless-shell'

[ $# -gt 0 ] || set -- build
for group in "$@"; do
  case $group in
    build) printf '%s\n' $build ;;
    ci) printf '%s\n' $ci ;;
    cluster) printf '%s\n' $cluster ;;
    peers) printf '%s\n' $peers ;;
    installed) printf '%s\n' $installed ;;
    report) printf '%s\n' $report ;;
    -h | --help) sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" ;;
    *)
      echo "packages.sh: unknown group '$group'; the groups are build, ci, cluster, peers, installed and report" >&2
      exit 2
      ;;
  esac
done

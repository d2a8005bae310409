#!/usr/bin/env bash
# Installs the Debian packages by dpkg, as an administrator does, and builds and runs a program of each interface with
# them; then removes them. It works in an overlay of this machine's root, so it changes nothing on the machine. dpkg checks
# the packages' dependencies and runs their triggers. Exits with 77 where that needs more rights, or where dpkg is not.
#
# usage: dpkg.sh BUILD_DIRECTORY CMAKE
set -euo pipefail
build=$1 cmake=$2
here=$(cd "$(dirname "$0")" && pwd)

fail() {
  echo "dpkg.sh: $*" >&2
  exit 1
}
skip() {
  echo "dpkg.sh: skipped: $*"
  exit 77
}

# inside: in the overlay, with the packages in /packages and the programs in /consumers
if [ "$build" = inside ]; then
  # ARMCI-MPI's headers have the names of librma's.
  ! dpkg -s libarmci-mpi-dev > /dev/null 2>&1 || dpkg --remove --force-depends libarmci-mpi-dev > /dev/null
  dpkg --install /packages/*.deb > /tmp/log 2>&1 || fail "dpkg --install failed: $(cat /tmp/log)"
  for name in librma0 librma-dev librma-armci-dev librma-openmpi librma-mpich librma-bin; do
    dpkg --status $name | grep '^Status: install ok installed' > /dev/null || fail "$name is not installed"
  done
  # Nothing but the packages tells the compilers, the loader and the shell where the files are.
  ldconfig -p | grep 'librma\.so\.0 ' > /dev/null || fail 'the loader does not know librma.so.0'
  [ ! -d /usr/share/man/man1 ] || [ -f /usr/share/man/man1/rmarun.1.gz ] || fail 'rmarun has no page'
  cd "$(mktemp -d)"
  cc /consumers/consumer_c/consumer.c $(pkg-config --cflags --libs rma) -o c
  cc /consumers/consumer_armci/consumer.c $(pkg-config --cflags --libs armci) -o armci
  rma_mpicc /consumers/consumer_mpi/consumer.c -o mpi
  rma_oshcc /consumers/consumer_shmem/consumer.c -o shmem
  for program in c armci mpi shmem; do
    rmarun -n 2 --timeout 60 ./$program > log 2>&1 || fail "the program of $program failed: $(cat log)"
    echo "$program: $(tail -n 1 log)"
  done
  dpkg --purge librma-armci-dev librma-openmpi librma-mpich librma-bin librma-dev librma0 > /tmp/log 2>&1 || fail "dpkg --purge failed: $(cat /tmp/log)"
  left=$(find /usr -name 'librma*' -o -name 'rmarun*' | grep -v '^/usr/src/' || true)
  [ -z "$left" ] || fail "these files are left: $left"
  echo 'removed: nothing is left'
  exit 0
fi

command -v dpkg-shlibdeps > /dev/null || skip 'this is no Debian with dpkg-dev'
[ "$(id -u)" = 0 ] || skip 'only root can mount an overlay of its root'
work=$(mktemp -d)
# A filesystem of its own: an overlay cannot lie in another one.
trap 'umount --lazy "$work" 2> /dev/null || true; rmdir "$work"' EXIT
mount -t tmpfs rma-packages "$work" 2> /dev/null || skip 'a tmpfs cannot be mounted here'
mkdir "$work"/{upper,work,root,packages}
# gzip takes a tenth of the time of the default.
"${cmake%cmake}cpack" -G DEB --config "$build/CPackConfig.cmake" -B "$work/packages" \
  -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip > "$work/log" 2>&1 || fail "cpack failed: $(cat "$work/log")"
export work here
unshare --mount bash -euc '
  mount -t overlay overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/work" "$work/root" 2> /dev/null || exit 77
  for folder in proc sys dev; do mount --rbind /$folder "$work/root/$folder"; done
  mkdir -p "$work/root"/{packages,consumers}
  mount --bind "$work/packages" "$work/root/packages"
  mount --bind "$here" "$work/root/consumers"
  exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root chroot "$work/root" /consumers/dpkg.sh inside -' || {
  status=$?
  [ $status != 77 ] || skip 'an overlay of the root cannot be mounted here'
  exit $status
}

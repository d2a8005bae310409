#!/usr/bin/env bash
# Makes the Debian packages of a build, compares them with what `cmake --install` installs, and unpacks all of them into
# a folder. It changes nothing on this machine.
#
# usage: debian.sh BUILD_DIRECTORY CMAKE FOLDER
set -euo pipefail
build=$1 cmake=$2 root=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "debian.sh: $*" >&2
  exit 1
}

# gzip takes a tenth of the time of the default.
"${cmake%cmake}cpack" -G DEB --config "$build/CPackConfig.cmake" -B "$work/packages" \
  -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip > "$work/log" 2>&1 || fail "cpack failed: $(cat "$work/log")"
packages=("$work"/packages/*.deb)
names=$(printf '%s\n' "${packages[@]##*/}" | sed 's/_.*//' | paste -sd ' ')
[ "$names" = 'librma-armci-dev librma-bin librma-dev librma-mpich librma-openmpi librma0' ] || fail "cpack made these packages: $names"

# files PACKAGE: the files in it, without the packages' own documents.
files() { dpkg-deb --fsys-tarfile "$1" | tar t | grep -v '/$' | grep -v '^\./usr/share/doc/' | sed 's|^\./usr/||'; }
for package in "${packages[@]}"; do files "$package"; done | sort > "$work/packed"
"$cmake" --install "$build" --prefix "$work/installed" > /dev/null
(cd "$work/installed" && find . ! -type d -printf '%P\n' | sort) > "$work/installed.list"
diff "$work/installed.list" "$work/packed" > "$work/differences" ||
  fail "the packages together have not what cmake --install installs: $(cat "$work/differences")"

# Debian's own names for these programs must stay free.
for package in "${packages[@]}"; do
  foreign=$(files "$package" | grep '^bin/' | grep -v '^bin/rma' || true)
  [ -z "$foreign" ] || fail "$package has $foreign"
  for document in copyright changelog.Debian.gz; do
    name=$(dpkg-deb -f "$package" Package)
    dpkg-deb --fsys-tarfile "$package" | tar t "./usr/share/doc/$name/$document" > /dev/null ||
      fail "$name has no $document"
  done
done
# Every program has its page, if the build has pages.
if [ -d "$build/man" ]; then
  for program in "$work"/installed/bin/*; do
    page=share/man/man1/${program##*/}.1.gz
    grep -q "$page" "$work/packed" || fail "no package has $page"
    zgrep -q '^\.SH OPTIONS' "$work/installed/$page" || fail "$page names no options"
  done
  zgrep -q '^\\fBRMA_HEAP_SIZE' "$work/installed/share/man/man7/librma.7.gz" || fail 'librma(7) has no settings'
fi

# control PACKAGE FIELD PATTERN: the field's value must match.
control() {
  local value
  value=$(dpkg-deb -f "$work/packages/$1"_*.deb "$2")
  grep -qE "$3" <<< "$value" || fail "$1: $2 is '$value', not as '$3'"
}
control librma0 Depends '(^|, )libpmix2'
control librma0 Depends '(^|, )libibverbs1'
version='\(= [0-9.]+-[0-9]+\)'
control librma-dev Depends "librma0 $version"
control librma-bin Depends "librma0 $version"
control librma-bin Depends 'libc6'
control librma-bin Recommends 'openmpi-bin'
control librma0 Recommends 'libfabric1'
control librma-openmpi Depends "^librma0 $version\$"
control librma-mpich Depends "^librma0 $version\$"
! dpkg-deb -f "$work/packages"/librma0_*.deb Depends | grep openmpi > /dev/null || fail 'librma0 needs Open MPI'
control librma-armci-dev Depends "librma-dev $version"
control librma-armci-dev Conflicts 'libarmci-mpi-dev'
triggers=$(dpkg-deb -I "$work/packages"/librma0_*.deb triggers) || fail 'librma0 has no triggers'
[ "$triggers" = 'activate-noawait ldconfig' ] || fail "librma0's triggers are: $triggers"
shlibs=$(dpkg-deb -I "$work/packages"/librma0_*.deb shlibs) || fail 'librma0 has no shlibs'
grep -qE "^librma 0 librma0 $version" <<< "$shlibs" || fail "librma0's shlibs are: $shlibs"

for package in "${packages[@]}"; do dpkg-deb -x "$package" "$root"; done
echo "packages: $names"

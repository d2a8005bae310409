#!/usr/bin/env bash
# Prepares the Debian kernel and the initramfs that an emulated host boots. Both are kept in a cache directory.
#
# usage: scripts/cluster/kernel.sh CACHE-DIR     prints "KERNEL-FILE INITRAMFS-FILE"
#
# The kernel package is downloaded once, by apt-get, and unpacked into the cache; nothing is installed. The initramfs is
# made again when its recipe (this file, initramfs-init) changes. Several instances may run at once. Exits with 77 if
# there is neither a cached kernel nor a way to get one.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=$1
PATH=$PATH:/usr/sbin:/sbin

# The modules in the order of their purposes: the host's files, output, the network, RDMA, and packet loss.
modules='virtio_pci 9p 9pnet_virtio overlay virtio_console virtio_net crc32_generic rdma_rxe ib_uverbs rdma_ucm sch_netem'

mkdir -p "$cache"
exec 9> "$cache/lock"
flock 9
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fetch_kernel() {
  local image
  image=$(apt-cache depends linux-image-amd64 2> /dev/null | awk '/Depends:/ { print $2; exit }')
  if [ -z "$image" ] && [ "$(id -u)" -eq 0 ]; then
    apt-get update > "$work/log" 2>&1 || true
    image=$(apt-cache depends linux-image-amd64 2> /dev/null | awk '/Depends:/ { print $2; exit }')
  fi
  if [ -z "$image" ]; then
    echo 'cluster: no kernel to boot: apt knows no package linux-image-amd64 (run apt-get update as root)' >&2
    exit 77
  fi
  echo "cluster: fetching $image (once, into $cache)" >&2
  if ! (cd "$work" && apt-get download "$image" > log 2>&1); then
    tail -n 3 "$work/log" >&2
    echo "cluster: no kernel to boot: 'apt-get download $image' failed" >&2
    exit 77
  fi
  dpkg -x "$work"/*.deb "$work/kernel"
  depmod -b "$work/kernel" "$(ls "$work/kernel/lib/modules")"
  rm -rf "$cache/kernel"
  mv "$work/kernel" "$cache/kernel"
}

[ -d "$cache/kernel/lib/modules" ] || fetch_kernel
version=$(ls "$cache/kernel/lib/modules")
recipe=$(cat "$here/kernel.sh" "$here/initramfs-init" | sha256sum | cut -c 1-16)
initramfs=$cache/initramfs-$version-$recipe

if [ ! -f "$initramfs" ]; then
  root=$work/root
  mkdir -p "$root"/{bin,proc,sys,dev,host,memory,newroot,modules}
  cp "$(command -v busybox)" "$root/bin/busybox"
  cp "$here/initramfs-init" "$root/init"
  chmod +x "$root/init"
  for module in $modules; do
    modprobe -d "$cache/kernel" -S "$version" --show-depends "$module" | awk '/^insmod/ { print $2 }'
  done | awk '!seen[$0]++' | while read -r file; do
    cp "$file" "$root/modules/"
    basename "$file"
  done > "$root/modules/order"
  (cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) > "$work/initramfs"
  # Removes the files of older recipes. Recent ones stay, because another checkout may be about to boot one.
  find "$cache" -name "initramfs-*" -mtime +0 -delete
  mv "$work/initramfs" "$initramfs"
fi
echo "$cache/kernel/boot/vmlinuz-$version $initramfs"

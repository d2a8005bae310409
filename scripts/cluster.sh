#!/usr/bin/env bash
# Boots a cluster of emulated hosts with real kernel RDMA devices (Soft-RoCE) on this machine, and runs a job over
# all of them. Shows the job's output as it comes and returns its exit code. Leaves nothing behind. docs/cluster.md
# has the details.
#
# usage: scripts/cluster.sh [OPTION...] -- PROG [ARG...]           one job, by mpirun
#        scripts/cluster.sh [OPTION...] --script FILE [ARG...]     a script on host 1, which has the commands
#                                                                  cluster-run and cluster-fault: many jobs in one boot
#   --hosts N            1 to 8 (default 2)
#   --ranks-per-host M   ranks of the job on each (default 1)
#   --rails 1|2          RDMA devices of each host: rxe0, rxe1 (default 1)
#   --rdma on|off        off: the hosts have ordinary network cards and no RDMA devices (default on)
#   --memlock KB         what each process may register (ulimit -l; default unlimited)
#   --netem SPEC         what tc's netem does to RDMA packets, for example 'loss 1%'
#   --env NAME[=VALUE]   a variable for the job, or the script; RMA_*, LIBRMA_* and OMPI_MCA_* go along anyway
#   --timeout S          end it all after S seconds, with exit code 124 (default 600)
#   --memory MB          of each host (default 1536)
#   --cpus C             processors of each host (default 1)
#   --results DIR        an existing directory that the hosts can write to, at the same path, $CLUSTER_RESULTS there
# Exit codes: the job's; 77 where emulation is not possible here; 124 after the time limit; 125 if the cluster failed.
set -euo pipefail
parts=$(cd "$(dirname "$0")/cluster" && pwd)
root=$(dirname "$(dirname "$parts")")
PATH=$PATH:/usr/sbin:/sbin

hosts=2 ranks=1 rails=1 rdma=on memlock=unlimited netem= limit=600 memory=1536 cpus=1 results= script= variables=()

fail() {
  echo "cluster: $*" >&2
  exit 125
}
impossible() {
  echo "cluster: $*" >&2
  exit 77
}
refuse() {
  echo "cluster: $*; try --help" >&2
  exit 2
}
# number OPTION VALUE LEAST MOST
number() {
  [[ $2 =~ ^[0-9]{1,9}$ ]] && [ "$2" -ge "$3" ] && [ "$2" -le "$4" ] || refuse "$1 takes a number from $3 to $4, not '$2'"
}

while [ $# -gt 0 ]; do
  case $1 in
    -h | --help)
      sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    --)
      shift
      break
      ;;
    --*) [ $# -ge 2 ] || refuse "$1 needs a value" ;;
  esac
  case $1 in
    --hosts) number "$1" "$2" 1 8 && hosts=$2 ;;
    --ranks-per-host) number "$1" "$2" 1 256 && ranks=$2 ;;
    --rails) number "$1" "$2" 1 2 && rails=$2 ;;
    --rdma) [[ $2 =~ ^(on|off)$ ]] && rdma=$2 || refuse "--rdma is on or off, not '$2'" ;;
    --memlock) number "$1" "$2" 0 999999999 && memlock=$2 ;;
    --netem) netem=$2 ;;
    --env) variables+=("$2") ;;
    --timeout) number "$1" "$2" 1 86400 && limit=$2 ;;
    --memory) number "$1" "$2" 256 65536 && memory=$2 ;;
    --cpus) number "$1" "$2" 1 64 && cpus=$2 ;;
    --results) results=$(cd "$2" && pwd) || refuse "--results: there is no directory '$2'" ;;
    --script)
      script=$2
      shift 2
      break
      ;;
    *) refuse "unknown option '$1'" ;;
  esac
  shift 2
done
if [ -n "$script" ]; then
  [ -r "$script" ] || refuse "--script: cannot read '$script'"
  script=$(realpath "$script")
else
  [ $# -gt 0 ] || refuse 'no program was given'
  command -v "$1" > /dev/null || refuse "there is no program '$1'"
fi

# --- requirements -----------------------------------------------------------------------------------------------------
[ "$(uname -m)" = x86_64 ] || impossible "hosts are emulated on x86_64 only, and this is $(uname -m)"
for program in qemu-system-x86_64 busybox cpio modprobe sshd ssh-keygen rdma mpirun ibv_devices apt-get; do
  command -v "$program" > /dev/null ||
    impossible "$program is missing here; '$root/scripts/setup.sh cluster' installs what is needed"
done
available=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
# A host takes memory when it touches it. Booting and a small job use this much.
needed=$((hosts * 400))
[ "$available" -ge "$needed" ] || impossible "$hosts hosts need $needed MB of memory, and $available MB are available"

work=$(mktemp -d "${TMPDIR:-/tmp}/rma-cluster.XXXXXX")
pids=()
cleanup() {
  trap '' INT TERM HUP
  [ ${#pids[@]} -eq 0 ] || kill -KILL "${pids[@]}" 2> /dev/null || true
  wait 2> /dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

progress() {
  [ ! -t 2 ] || printf '\r\033[Kcluster: %s' "$*" >&2
}

# --- the hosts' kernel and parameters --------------------------------------------------------------------------------
cache=${XDG_CACHE_HOME:-$HOME/.cache}/librma/cluster
images=$("$parts/kernel.sh" "$cache") || exit
read -r kernel initramfs <<< "$images"

share=$work/share
mkdir "$share"
ssh-keygen -q -t ed25519 -N '' -f "$share/key"
{
  echo "export CLUSTER_HOSTS=$hosts CLUSTER_RANKS=$ranks CLUSTER_RAILS=$rails CLUSTER_RDMA=$rdma"
  echo "CLUSTER_MEMLOCK=$memlock"
  printf 'CLUSTER_NETEM=%q\n' "$netem"
} > "$share/settings"
{
  for name in $(compgen -e); do
    case $name in RMA_* | LIBRMA_* | OMPI_MCA_*) printf 'export %s=%q\n' "$name" "${!name}" ;; esac
  done
  options=()
  for variable in ${variables[@]+"${variables[@]}"}; do
    name=${variable%%=*}
    if [ "$name" = "$variable" ]; then variable=$name=${!name-}; fi
    printf 'export %s=%q\n' "$name" "${variable#*=}"
    options+=(--env "$name")
  done
  printf 'cd %q || exit 125\n' "$PWD"
  if [ -n "$script" ]; then
    printf '%q ' exec bash "$script" "$@"
  else
    printf '%q ' exec cluster-run --timeout "$limit" ${options[@]+"${options[@]}"} -- "$@"
  fi
} > "$share/job"

# --- boot ------------------------------------------------------------------------------------------------------------
# Uses hardware acceleration if it works. Some machines have a /dev/kvm that fails or hangs. So a test boots the kernel
# with it once (without an init the kernel panics, which ends the emulator), and the result is kept.
accelerated() {
  local answer
  answer=$cache/kvm-$(cat /proc/sys/kernel/random/boot_id)
  [ -w /dev/kvm ] || return
  if [ ! -e "$answer" ]; then
    rm -f "$cache"/kvm-*
    timeout 15 qemu-system-x86_64 -accel kvm -cpu host -m 256 -display none -monitor none -no-reboot -nodefaults \
      -kernel "$kernel" -append 'quiet panic=-1' < /dev/null > /dev/null 2>&1 && echo yes > "$answer" || echo no > "$answer"
  fi
  [ "$(cat "$answer")" = yes ]
}
# Without acceleration each of these costs the emulators processor time: page tables of five levels, checks of accesses to
# users' memory by the kernel, guards against speculation, and pages that are cleared twice. A boot with a short test takes
# 12 % less without them. Programs lie at the same addresses each time (norandmaps), because the emulator translates
# code again for each address: a boot with eight jobs took 51 s instead of 83.
cheaper='mitigations=off init_on_alloc=0 norandmaps'
accelerator=(-accel tcg,thread=multi -cpu max,-la57,-smap,-smep,-pku)
! accelerated 2> /dev/null || accelerator=(-accel kvm -cpu host)

# These characters have a meaning in the paths of the emulators and of the kernel's command line.
case $root$work$results in
  *[[:space:],]*) fail "cannot work where paths have spaces or commas in them: $root, $work, $results" ;;
esac
exports=()
if [ -n "$results" ]; then
  exports=(-fsdev "local,id=results,path=$results,security_model=none"
    -device virtio-9p-pci,fsdev=results,mount_tag=results)
fi

# start NODE OPTION...: starts an emulated host. It ends with this script, also if the script is killed.
start() {
  local node=$1
  shift
  setpriv --pdeathsig KILL qemu-system-x86_64 "${accelerator[@]}" -smp "$cpus" -m "$memory" -display none \
    -monitor none -no-reboot -nodefaults -kernel "$kernel" -initrd "$initramfs" -serial "file:$work/console$node" \
    -append "console=ttyS0 quiet panic=-1 no_timer_check $cheaper CLUSTER_NODE=$node CLUSTER_SHARE=$share CLUSTER_PARTS=$parts CLUSTER_RESULTS=$results" \
    -fsdev local,id=host,path=/,security_model=none,readonly=on,multidevs=remap \
    -device virtio-9p-pci,fsdev=host,mount_tag=host \
    -fsdev "local,id=share,path=$share,security_model=none" -device virtio-9p-pci,fsdev=share,mount_tag=share \
    "${exports[@]}" "$@" < /dev/null > "$work/emulator$node" 2>&1 &
  pids+=($!)
}
# card NODE NETWORK: prints the options of a network card. The networks are 0 (control) and the rails 1 and 2. The
# card's ring has the maximum length, so that a slow host rarely makes the others wait. event_idx is off because of a
# fault: with it, after some 100000 packets at full speed, a host that waited for room to send got no event any more,
# and sent nothing until it ended.
card() {
  echo -device "virtio-net-pci,netdev=n$2,mac=52:54:00:00:0$2:0$1,rx_queue_size=1024,event_idx=off,romfile="
}
# cable NETWORK NODE ID: prints the options of host 1's end of the cable to another host.
cable() {
  echo -netdev "stream,id=$3,server=on,addr.type=unix,addr.path=$work/wire$1.$2"
}

# Two hosts have a cable for each network. More hosts have a switch in host 1's emulator, with one port for its own card
# and one cable to each other host. If a card takes no packets for a while, the switch lets packets overtake others.
# RDMA then recovers as from lost packets. So bandwidth can be measured between two hosts only.
networks=$(seq 0 "$rails")
options=()
for network in $networks; do
  if [ "$hosts" = 2 ]; then
    options+=($(cable "$network" 2 "n$network") $(card 1 "$network"))
    continue
  fi
  options+=(-netdev "hubport,id=n$network,hubid=$network" $(card 1 "$network"))
  for ((i = 2; i <= hosts; i++)); do
    options+=($(cable "$network" "$i" "s$network.$i") -netdev "hubport,id=p$network.$i,hubid=$network,netdev=s$network.$i")
  done
done
mkfifo "$work"/{out,err}.{in,out}
cat "$work/out.out" &
readers=($!)
cat "$work/err.out" >&2 &
readers+=($!)
pids+=("${readers[@]}")
progress "booting $hosts hosts"
start 1 "${options[@]}" -device virtio-serial-pci \
  -chardev "pipe,id=out,path=$work/out" -device virtserialport,chardev=out,nr=1 \
  -chardev "pipe,id=err,path=$work/err" -device virtserialport,chardev=err,nr=2
first=$!
for ((i = 2; i <= hosts; i++)); do
  options=()
  for network in $networks; do
    until [ -S "$work/wire$network.$i" ]; do
      kill -0 "$first" 2> /dev/null || fail "host 1 did not start: $(tail -n 3 "$work/emulator1")"
      sleep 0.05
    done
    options+=(-netdev "stream,id=n$network,server=off,addr.type=unix,addr.path=$work/wire$network.$i"
      $(card "$i" "$network"))
  done
  start "$i" "${options[@]}"
done

# what_failed NODE: prints the end of a host's output.
what_failed() {
  tail -n 15 "$work/emulator$1" "$work/console$1" 2> /dev/null | tr -d '\r' >&2
}
emulators=("${pids[@]:2}")
deadline=$((SECONDS + 120))
until [ -e "$share/ready" ]; do
  for ((i = 1; i <= hosts; i++)); do
    kill -0 "${emulators[i - 1]}" 2> /dev/null && continue
    what_failed "$i"
    fail "host $i ended while booting; its last words are above"
  done
  if [ $SECONDS -ge $deadline ]; then
    what_failed 1
    fail 'the hosts did not come up in 120 s; the last words of host 1 are above'
  fi
  progress "booting $hosts hosts, $(find "$share" -name 'up.*' | wc -l) up"
  sleep 0.1
done
[ ! -t 2 ] || printf '\r\033[K' >&2

# --- the job ---------------------------------------------------------------------------------------------------------
sleep "$limit" &
timer=$!
pids+=("$timer")
ended=
wait -n -p ended "$first" "$timer" || true
if [ "$ended" = "$timer" ]; then
  echo "cluster: ended after the time limit of $limit s (--timeout)" >&2
  exit 124
fi
wait "${readers[@]}"
if [ ! -e "$share/status" ]; then
  what_failed 1
  fail 'host 1 ended before the job did; its last words are above'
fi
exit "$(cat "$share/status")"

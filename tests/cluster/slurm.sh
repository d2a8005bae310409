#!/usr/bin/env bash
# Jobs under Slurm, which most clusters have: `srun --mpi=pmix`. For cluster.sh --hosts 4; the argument is the folder
# with the programs. The script starts Slurm's services itself, because only this test needs them.
. "$(dirname "$0")/lib.sh"
programs=$1

# Every host runs this, as root, with its files in memory. It uses no control groups, because they need
# systemd.
start_host='
mkdir -p -m 755 /run/munge /run/slurm/spool
install -m 400 "$CLUSTER_SHARE/munge.key" /run/munge/munge.key
munged --key-file=/run/munge/munge.key --socket=/run/munge/munge.socket.2 --pid-file=/run/munge/munged.pid \
  --log-file=/run/munge/munged.log --seed-file=/run/munge/munged.seed --num-threads=2 &&
  slurmd -f "$CLUSTER_SHARE/slurm.conf"'

start_slurm() {
  local i
  (umask 077 && head -c 128 /dev/urandom > "$CLUSTER_SHARE/munge.key")
  # Slurm believes in more processors than exist, so that ranks may share one.
  cat > "$CLUSTER_SHARE/slurm.conf" << CONFIG
ClusterName=emulated
SlurmctldHost=node1
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
MpiDefault=pmix
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
StateSaveLocation=/run/slurm/state
SlurmdSpoolDir=/run/slurm/spool
SlurmctldPidFile=/run/slurm/slurmctld.pid
SlurmdPidFile=/run/slurm/slurmd.pid
SlurmctldLogFile=/run/slurm/slurmctld.log
SlurmdLogFile=/run/slurm/slurmd.log
ReturnToService=2
NodeName=node[1-$CLUSTER_HOSTS] CPUs=8 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONFIG
  echo 'CgroupPlugin=cgroup/v1' > "$CLUSTER_SHARE/cgroup.conf"
  for ((i = CLUSTER_HOSTS; i >= 1; i--)); do ssh "node$i" "$start_host" || return; done
  mkdir -p /run/slurm/state
  slurmctld -f "$SLURM_CONF" || return
  for ((i = 0; i < 300; i++)); do
    [ "$(sinfo --noheader --states=idle -o %D 2> /dev/null)" != "$CLUSTER_HOSTS" ] || return 0
    sleep 0.2
  done
  tail -n 20 /run/slurm/*.log
  return 1
}
export SLURM_CONF=$CLUSTER_SHARE/slurm.conf CLUSTER_LAUNCHER=srun

step 'Slurm starts' start_slurm
summa() {
  cluster-run "$@" -- "$programs/summa" --m 256 --n 256 --k 256 --block 64 --verify
}

step 'four ranks of two hosts' expect_text 'round 0 rank 3 of 4 local 2' \
  cluster-run --hosts 2 -n 2 -- "$programs/launcher-client" exchange
# If a rank fails, Slurm terminates the ranks that still run, and the job's code is the highest. So no rank fails before
# all have met; by then they all ignore that signal.
step 'the exit code of one rank' expect_exit 23 cluster-run --hosts 2 -n 2 -- \
  sh -c 'trap "" TERM; "$0" exchange || exit 1; test $PMIX_RANK != 3 || exit 23' "$programs/launcher-client"

# rmarun in an allocation takes its hosts, and srun, by itself. Its own texts and exit codes show that its keepers run.
rmarun_allocated() {
  salloc --quiet -N 2 -n 4 --ntasks-per-node=2 timeout 120 "$programs/rmarun" "$@"
}
# Each signal comes to all ranks: one that srun passes on, the question about waits, and one that only scancel sends.
rmarun_signals() {
  local trap='trap "echo usr1" USR1; trap "echo cont; exit 0" CONT; echo ready; while :; do sleep 0.1; done'
  export trap
  salloc --quiet -N 2 -n 4 --ntasks-per-node=2 timeout 120 bash -c '
    all_say() { until [ "$(grep -c "$1" out)" = 4 ]; do sleep 0.1; done; }
    cd "$(mktemp -d)" && : > out || exit
    "$0" bash -c "$trap" > out 2> err &
    all_say ready && kill -USR1 $! && all_say usr1 || exit
    until grep -q "ranks 0-3: not waiting in librma" err; do kill -QUIT $! && sleep 1; done
    kill -CONT $! && all_say cont && wait $!' "$programs/rmarun"
}
step 'rmarun: ranks of two hosts' expect_text '^\[3\] 3 node2 2$' rmarun_allocated --label \
  sh -c 'echo $PMIX_RANK $(hostname) $SLURM_NNODES'
step 'rmarun: the exit code of one rank' expect_exit 23 rmarun_allocated \
  sh -c 'test $PMIX_RANK != 3 || exit 23; sleep 1000'
step 'rmarun: signals' rmarun_signals
step 'SUMMA, 2 hosts x 2' summa --hosts 2 -n 2
step 'SUMMA, 4 hosts x 1' summa -n 1
finish

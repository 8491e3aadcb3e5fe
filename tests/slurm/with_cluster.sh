#!/usr/bin/env bash
# tests/slurm/with_cluster.sh COMMAND...: runs COMMAND beside a Slurm cluster of one machine (munged, slurmctld and one
# slurmd in a scratch folder, on free ports, without systemd and cgroups), then ends all of it, however COMMAND
# ended. COMMAND sees SLURM_CONF and RADDLE_CLUSTER (the scratch folder). Status: COMMAND's; 77 when Slurm is not
# installed; 70 when the cluster does not come up.
#   RADDLE_CLUSTER_HIDE=DIR  a folder that the node does not see (needs root)
#   RADDLE_CLUSTER_CONF=...  further lines of slurm.conf
set -uo pipefail

for program in munged mungekey slurmctld slurmd sbatch; do
  PATH=$PATH:/usr/sbin command -v $program >/dev/null || {
    echo "with_cluster.sh: $program is not installed (Debian: slurm-wlm, munge)" >&2
    exit 77
  }
done
PATH=$PATH:/usr/sbin

here=$(mktemp -d /tmp/raddle-slurm.XXXXXX) || exit 70  # short: sockets live here
pids=()

finish() {
  local status=$? pid
  trap '' INT TERM
  # Jobs first: what slurmstepd holds would outlive slurmd.
  if [ ${#pids[@]} -gt 1 ]; then timeout 5 scancel --me >/dev/null 2>&1 || true; fi
  for ((i = ${#pids[@]} - 1; i >= 0; --i)); do kill "${pids[i]}" 2>/dev/null; done
  for ((tries = 0; tries < 50; ++tries)); do
    kill -0 "${pids[@]}" 2>/dev/null || break
    sleep 0.1
  done
  for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null; done
  # Steps and their jobs, known by the configuration that only they have.
  for pid in $(grep -lzs "^RADDLE_CLUSTER=$here\$" /proc/[0-9]*/environ | grep -o '[0-9]*'); do
    [ "$pid" = $$ ] || kill -9 "$pid" 2>/dev/null
  done
  rm -rf "$here" 2>/dev/null || { sleep 1 && rm -rf "$here"; }
  exit $status
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

give_up() {
  echo "with_cluster.sh: $1" >&2
  tail -n 15 "$here"/*.log >&2
  exit 70
}

free_port() {
  local port
  while true; do
    port=$((20000 + RANDOM % 12000))
    if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
      echo $port
      return
    fi
  done
}

until_ok() { # until_ok COMMAND...: within 20 s
  local tries
  for ((tries = 0; tries < 200; ++tries)); do
    "$@" >/dev/null 2>&1 && return 0
    sleep 0.1
  done
  return 1
}

host=$(hostname -s)
user=$(id -un)
mkdir -p "$here"/{state,spool}
cat >"$here/slurm.conf" <<CONF
ClusterName=raddle
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$here/munge.socket,cred_expire=5
StateSaveLocation=$here/state
SlurmdSpoolDir=$here/spool
SlurmctldPidFile=$here/slurmctld.pid
SlurmdPidFile=$here/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,batch_sched_delay=0
ReturnToService=2
KillWait=2
MinJobAge=60
MaxArraySize=8
MailProg=/bin/true
SlurmdParameters=config_overrides
NodeName=node NodeHostname=$host NodeAddr=127.0.0.1 CPUs=6 RealMemory=30000
PartitionName=all Nodes=node Default=YES MaxTime=INFINITE State=UP
${RADDLE_CLUSTER_CONF:-}
CONF
export SLURM_CONF=$here/slurm.conf RADDLE_CLUSTER=$here

mungekey --create --keyfile="$here/munge.key" || give_up "mungekey failed"
munged --foreground --force --num-threads=2 --key-file="$here/munge.key" --socket="$here/munge.socket" \
  --pid-file="$here/munged.pid" --seed-file="$here/munge.seed" --log-file="$here/munged.log" 2>"$here/munged-err.log" &
pids+=($!)
until_ok munge --no-input --socket="$here/munge.socket" || give_up "munged does not answer"

slurmctld -D -c 2>"$here/slurmctld.log" &
pids+=($!)
until_ok scontrol ping || give_up "slurmctld does not answer"

hide=()
if [ -n "${RADDLE_CLUSTER_HIDE:-}" ]; then
  hide=(unshare --mount sh -c 'mount -t tmpfs none "$0" && exec "$@"' "$RADDLE_CLUSTER_HIDE")
fi
"${hide[@]}" slurmd -D -N node 2>"$here/slurmd.log" &
pids+=($!)
node_is_idle() { [ "$(sinfo --noheader --format=%T)" = idle ]; }
until_ok node_is_idle || give_up "the node does not come up"

"$@"

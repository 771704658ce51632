# What the jobs of this folder share; they read it, nobody runs it.

fail() {
  echo "$1" >&2
  exit 2
}

# Devices and caches, for this node and for what it starts.
prepare_node() {
  # Ray gives AMD's devices out by HIP_VISIBLE_DEVICES, and refuses to where only the other is set.
  if [ -n "${ROCR_VISIBLE_DEVICES-}" ]; then
    export HIP_VISIBLE_DEVICES=${HIP_VISIBLE_DEVICES:-$ROCR_VISIBLE_DEVICES}
    unset ROCR_VISIBLE_DEVICES CUDA_VISIBLE_DEVICES # some versions of Slurm set both
  fi
  # A short path on the node's own disk: sockets have at most 107 characters, and MIOpen's caches
  # do not bear several processes on a shared disk.
  node_folder=$(mktemp -d -t athenan.XXXXXX)
  export MIOPEN_USER_DB_PATH=$node_folder/miopen MIOPEN_CUSTOM_CACHE_DIR=$node_folder/miopen
}

# Where the devices that this node may use are named, with commas between.
devices_named_by() {
  [ -n "${HIP_VISIBLE_DEVICES-}" ] && echo HIP_VISIBLE_DEVICES || echo CUDA_VISIBLE_DEVICES
}
count_of() { if [ -z "$1" ]; then echo 0; else echo "$1" | tr ',' '\n' | wc -l; fi; }

# Runs `athenan train` with these words until it is done, and has the job put into the queue again
# where it was asked to stop (exit code 75) before that. ATHENAN names another program.
train_until_done() {
  local code=0 status
  "${ATHENAN:-.venv/bin/athenan}" train "$@" &
  driver=$!
  interrupted=1
  trap 'interrupted=1; kill -USR1 "$driver" 2>/dev/null' USR1 TERM
  while [ -n "$interrupted" ]; do # a signal ends `wait` before its time
    interrupted=
    wait "$driver"
    status=$?
    [ $status = 127 ] || code=$status
  done
  trap - USR1 TERM
  [ -z "${node_folder-}" ] || rm -rf "$node_folder"
  if [ $code = 75 ]; then
    echo "The run is saved and goes on when the job is started again." >&2
    scontrol requeue "$SLURM_JOB_ID" || echo "Slurm does not requeue this job: submit it again." >&2
  fi
  return $code
}

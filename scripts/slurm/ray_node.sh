# Ray on one node of cluster.sbatch: the head on the first, joined by the others.
set -uo pipefail
. scripts/slurm/job.sh
prepare_node
trap 'rm -rf "$node_folder"' EXIT
own=(--num-cpus="${SLURM_CPUS_PER_TASK:-1}" --disable-usage-stats --block)
if [ "$SLURM_NODEID" = 0 ]; then
  # The learner's devices are none of Ray's.
  named=$(devices_named_by)
  if [ "$LEARNER_GPUS" != 0 ]; then
    export "$named=$(echo "${!named-}" | tr ',' '\n' | tail -n +$((LEARNER_GPUS + 1)) | paste -sd, -)"
    own+=(--num-gpus="$(count_of "${!named}")")
  fi
  "$RAY" start --head --node-ip-address="${RAY_ADDRESS%:*}" --port="${RAY_ADDRESS##*:}" \
    --temp-dir="$node_folder" --include-dashboard=false "${own[@]}"
  exit
fi
for _ in {1..60}; do # until the head is there; afterwards it blocks until the head goes
  "$RAY" start --address="$RAY_ADDRESS" "${own[@]}" && exit
  sleep 2
done
echo "Ray's head at $RAY_ADDRESS did not answer within two minutes." >&2
exit 1

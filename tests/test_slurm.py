"""Jobs for Slurm: saved before their time is over, put into the queue again, gone on with. By
stand-ins for Slurm, Ray and training; by Slurm itself where it is installed (--long)."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from athenan.checkpoint import read_state, steps_of

TOP = Path(__file__).parents[1]
JOBS = TOP / "scripts" / "slurm"

# Trains until it is asked to stop, and the second time to its end.
ATHENAN = """#!/usr/bin/env bash
echo "$*" >> words
for name in ROCR_VISIBLE_DEVICES HIP_VISIBLE_DEVICES CUDA_VISIBLE_DEVICES RAY_ADDRESS; do
  echo "athenan $name=${!name-unset}" >> devices
done
if [ -e half ]; then mv half whole; exit "${LAST_CODE:-0}"; fi
trap 'touch half; exit 75' USR1
touch begun
while :; do sleep 0.05; done
"""
SCONTROL = '#!/usr/bin/env bash\necho "$*" >> requeued\n'
SRUN = """#!/usr/bin/env bash
while [[ $1 == --* ]]; do echo "$1" >> srun_flags; shift; done
for node in 0 1; do SLURM_NODEID=$node "$@" & done
trap 'kill $(jobs -p); exit' TERM
wait
"""
RAY = """#!/usr/bin/env bash
echo "$*" >> ray_words
echo "ray ${HIP_VISIBLE_DEVICES-unset} ${RAY_AUTH_TOKEN:+token}" >> devices
exec sleep 30 >/dev/null 2>&1 # whoever waits for what the job prints does not wait for it
"""


def place(folder: Path, **programs: str) -> Path:
    """A copy of the repository, as far as jobs need it, with these programs."""
    folder.mkdir(exist_ok=True)
    shutil.copytree(JOBS, folder / "scripts" / "slurm")
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / "bin").mkdir()
    programs["python"] = f'#!/usr/bin/env bash\nexec {sys.executable} "$@"\n'
    for name, text in programs.items():
        path = folder / (".venv/bin" if name in ("athenan", "ray", "python") else "bin") / name
        path.write_text(text)
        path.chmod(0o755)
    return folder


def start(folder: Path, job: str, *words: str, **environment: str) -> subprocess.Popen[str]:
    own = {
        **{name: value for name, value in os.environ.items() if "VISIBLE_DEVICES" not in name},
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(TOP),
        "SLURM_SUBMIT_DIR": str(folder),
        "SLURM_JOB_ID": "4711",
        **environment,
    }
    return subprocess.Popen(
        ["bash", folder / "scripts" / "slurm" / job, *words], env=own, cwd="/", text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def wait_for(path: Path, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, f"{path.name} did not come"
        time.sleep(0.02)


@pytest.mark.parametrize("path", sorted(JOBS.iterdir()), ids=lambda p: p.name)
def test_jobs_are_bash(path: Path) -> None:
    subprocess.run(["bash", "-n", path], check=True)


def test_every_job_is_told_in_time_and_may_start_again() -> None:
    jobs = sorted(JOBS.glob("*.sbatch"))
    assert [job.stem for job in jobs] == ["array", "cluster", "node"]
    for job in jobs:
        lines = job.read_text().splitlines()
        for flag in ("--signal=B:USR1@300", "--requeue", "--open-mode=append"):
            assert f"#SBATCH {flag}" in lines, job


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGTERM])
def test_a_run_is_saved_requeued_and_gone_on_with(tmp_path: Path, number: int) -> None:
    here = place(tmp_path / "repo", athenan=ATHENAN, scontrol=SCONTROL)
    job = start(here, "node.sbatch", "mine", "games=5", ROCR_VISIBLE_DEVICES="2,3")
    wait_for(here / "begun")
    job.send_signal(number)
    _, said = job.communicate(timeout=30)
    assert job.returncode == 75
    assert "saved" in said
    assert (here / "requeued").read_text() == "requeue 4711\n"
    again = start(here, "node.sbatch", "mine", "games=5")
    assert again.wait(30) == 0
    assert (here / "whole").exists()
    assert (here / "requeued").read_text().count("\n") == 1, "a run that is done is not started"
    assert (here / "words").read_text() == "train run=mine resume=auto games=5\n" * 2
    seen = (here / "devices").read_text()
    assert "ROCR_VISIBLE_DEVICES=unset\nathenan HIP_VISIBLE_DEVICES=2,3\n" in seen


def test_a_run_that_fails_is_not_requeued(tmp_path: Path) -> None:
    here = place(tmp_path / "repo", athenan=ATHENAN, scontrol=SCONTROL)
    (here / "half").touch()
    assert start(here, "node.sbatch", "mine", LAST_CODE="2").wait(30) == 2
    assert not (here / "requeued").exists()


def test_a_task_of_an_array_is_a_combination(tmp_path: Path) -> None:
    here = place(tmp_path / "repo", athenan=ATHENAN, scontrol=SCONTROL)
    words = ["many", "seed=0,1", "network=conv,small", "self_play.batch_sizes=[16,64]"]
    for task in (1, 2):
        (here / "half").touch()
        assert start(here, "array.sbatch", *words, SLURM_ARRAY_TASK_ID=str(task)).wait(60) == 0
    assert (here / "words").read_text().splitlines() == [
        "train run=many-1 resume=auto seed=0 network=small self_play.batch_sizes=[16,64]",
        "train run=many-2 resume=auto seed=1 network=conv self_play.batch_sizes=[16,64]",
    ]
    beyond = start(here, "array.sbatch", *words, SLURM_ARRAY_TASK_ID="4")
    assert (
        beyond.communicate(timeout=60)[1] == "There are 4 combinations: give sbatch --array=0-3.\n"
    )
    assert beyond.returncode == 2


@pytest.mark.parametrize(("learners", "left"), [("1", "1,2,3"), ("", "")])
def test_ray_and_the_learner_share_the_devices_of_the_first_node(
    tmp_path: Path, learners: str, left: str
) -> None:
    here = place(tmp_path / "repo", athenan=ATHENAN, scontrol=SCONTROL, srun=SRUN, ray=RAY)
    job = start(
        here, "cluster.sbatch", "big", ROCR_VISIBLE_DEVICES="0,1,2,3", LEARNER_GPUS=learners,
        CUDA_VISIBLE_DEVICES="0,1,2,3", SLURM_CPUS_PER_TASK="8", HEAD_ADDRESS="127.0.0.1",
    )  # fmt: skip
    wait_for(here / "begun")
    ray = here / "ray_words"
    while not (ray.exists() and ray.read_text().count("\n") == 2):
        time.sleep(0.02)
    job.send_signal(signal.SIGUSR1)
    job.communicate(timeout=30)
    assert job.returncode == 75
    assert (here / "requeued").read_text() == "requeue 4711\n"
    assert (here / "words").read_text() == (
        f"train run=big resume=auto layout=cluster layout.learner_gpus={learners or 4}\n"
    )
    head, other = sorted(ray.read_text().splitlines(), key=lambda line: "--head" not in line)
    assert "--node-ip-address=127.0.0.1 --port=24711 " in head
    assert "--num-cpus=8" in head
    assert f"--num-gpus={len(left) // 2 + (left > '')}" in head
    assert other.startswith("start --address=127.0.0.1:24711 --num-cpus=8 ")
    seen = (here / "devices").read_text().splitlines()
    own = "0" if learners else "0,1,2,3"
    assert f"athenan HIP_VISIBLE_DEVICES={own}" in seen
    assert "athenan CUDA_VISIBLE_DEVICES=unset" in seen
    assert "athenan RAY_ADDRESS=127.0.0.1:24711" in seen
    assert {f"ray {left} token", "ray 0,1,2,3 token"} <= set(seen)
    assert "--overlap" in (here / "srun_flags").read_text().split()
    assert "--cpus-per-task=8" in (here / "srun_flags").read_text().split()


@pytest.mark.parametrize(
    ("job", "words", "told"),
    [
        ("node.sbatch", [], "Name the run"),
        ("array.sbatch", ["many"], "Name the sweep"),
        ("array.sbatch", ["many", "seed=0,1"], "Say which tasks"),
        ("cluster.sbatch", [], "Name the run"),
        ("cluster.sbatch", ["big"], "Ray is not installed"),
    ],
)
def test_what_is_missing_is_said(tmp_path: Path, job: str, words: list[str], told: str) -> None:
    here = place(tmp_path / "repo", athenan=ATHENAN)
    ran = start(here, job, *words)
    _, said = ran.communicate(timeout=30)
    assert (ran.returncode, said.count("\n")) == (2, 1)
    assert said.startswith(told)
    elsewhere = start(here, job, *words, SLURM_SUBMIT_DIR=str(tmp_path))
    assert "Submit this from the folder of athenan." in elsewhere.communicate(timeout=30)[1]


# ---- The real one ------------------------------------------------------------------------

DAEMONS = {name: shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") for name in
           ("munged", "slurmctld", "slurmd", "sbatch")}  # fmt: skip
CONFIG = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort=16817
SlurmUser=root
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port=16818 CPUs=2 RealMemory=4000
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port=16819 CPUs=2 RealMemory=4000
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""
# As the learner of a cluster would: waits for the nodes, trains, and is asked to stop.
DRIVER = """#!/usr/bin/env bash
exec {python} - "$@" <<'PYTHON'
import os, signal, sys, time
import ray
ray.init("auto", log_to_driver=False)
while sum(node["Alive"] for node in ray.nodes()) < 2:
    time.sleep(0.2)
@ray.remote(num_cpus=1)
def where():
    time.sleep(1)
    return ray.get_runtime_context().get_node_id()
nodes = set(ray.get([where.remote() for _ in range(4)]))
cores = ray.cluster_resources()["CPU"]
print(f"{{len(nodes)}} nodes, {{cores:g}} cores: {{' '.join(sys.argv[1:])}}", flush=True)
if os.path.exists("half"):
    sys.exit(0)
signal.signal(signal.SIGUSR1, lambda *_: sys.exit(75))
open("half", "w").close()
time.sleep(120)
PYTHON
"""


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cluster of two nodes on this machine, without systemd."""
    missing = [name for name, path in DAEMONS.items() if path is None]
    if missing or os.geteuid() != 0:
        pytest.skip(f"Slurm is not installed ({', '.join(missing)})" if missing else "needs root")
    host = os.uname().nodename
    for name in ("state", "n1", "n2"):
        (tmp_path / name).mkdir()
    (tmp_path / "key").write_bytes(os.urandom(128))
    (tmp_path / "key").chmod(0o600)
    tmp_path.chmod(0o755)
    config = tmp_path / "slurm.conf"
    config.write_text(CONFIG.format(folder=tmp_path, host=host))
    monkeypatch.setenv("SLURM_CONF", str(config))
    socket = f"--socket={tmp_path}/munge.socket"
    files = [f"--{name}={tmp_path}/munge.{name}" for name in ("log-file", "pid-file", "seed-file")]
    commands = [
        [DAEMONS["munged"], "-F", "-f", socket, f"--key-file={tmp_path}/key", *files],
        [DAEMONS["slurmctld"], "-D"],
        [DAEMONS["slurmd"], "-D", "-N", "n1"],
        [DAEMONS["slurmd"], "-D", "-N", "n2"],
    ]
    running = []
    try:
        for command in commands:
            with (tmp_path / "daemons.log").open("a") as log:
                running.append(subprocess.Popen([str(c) for c in command], stdout=log, stderr=log))
            time.sleep(1)
        until(lambda: told("sinfo", "-h", "-o", "%T %D").startswith("idle 2"))
        yield tmp_path
    finally:
        subprocess.run(["scancel", "--user=root"], check=False)
        time.sleep(2)
        for process in reversed(running):
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def told(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def until(reached: Callable[[], object], seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.3)


def submit(here: Path, *words: str, minutes: int = 2, before: int = 95) -> str:
    """Runs twice: the first time it is told to stop by Slurm, whose pause before the second is
    cut short. Returns what the job printed."""
    environment = {**os.environ, "PYTHONPATH": str(TOP), "HEAD_ADDRESS": "127.0.0.1"}
    limits = [f"--time={minutes}", f"--signal=B:USR1@{before}"]
    command = ["sbatch", "--parsable", "--output=out", *limits, *words]
    ran = subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    number = ran.stdout.strip()
    until(lambda: "saved" in ((here / "out").read_text() if (here / "out").exists() else ""), 300)

    def over() -> bool:
        # Only when its first part has left the nodes: Slurm may else kill the second with it.
        waits = told("squeue", "-h", "-o", "%T", "-j", number).startswith("PENDING")
        if waits and told("sinfo", "-h", "-o", "%T %D").startswith("idle 2"):
            told("scontrol", "update", f"job={number}", "StartTime=now")
        return not told("squeue", "-h", "-j", number).strip()

    until(over, 300)
    assert "JobState=COMPLETED" in told("scontrol", "show", "job", number)
    return (here / "out").read_text()


@pytest.mark.long
def test_slurm_itself_starts_a_run_again(slurm: Path) -> None:
    program = f'#!/usr/bin/env bash\nexec {sys.executable} -m athenan.command "$@"\n'
    here = place(slurm / "repo", athenan=program)
    words = ["experiment=tictactoe_smoke", "games=null", "minutes=0.6",
             "strength.every_checkpoints=0"]  # fmt: skip
    said = submit(here, "-c2", "scripts/slurm/node.sbatch", "mine", *words)
    print(said)
    assert "going on from" in said
    assert len(list(here.glob("checkpoints/*/*"))) == 1


@pytest.mark.long
def test_slurm_itself_holds_ray_on_two_nodes(slurm: Path) -> None:
    pytest.importorskip("ray")
    ray = f'#!/usr/bin/env bash\nexec {Path(sys.executable).parent}/ray "$@"\n'
    here = place(slurm / "repo", athenan=DRIVER.format(python=sys.executable), ray=ray)
    said = submit(here, "-N2", "-c2", "scripts/slurm/cluster.sbatch", "big", "games=5")
    print(said)
    line = (
        "2 nodes, 4 cores: train run=big resume=auto layout=cluster layout.learner_gpus=0 games=5"
    )
    assert said.count(line) == 2


@pytest.mark.long
def test_slurm_itself_trains_on_two_nodes(slurm: Path) -> None:
    """An actor on each node and the learner; saved, put into the queue again, gone on with."""
    pytest.importorskip("ray")
    program = f'#!/usr/bin/env bash\nexec {sys.executable} -m athenan.command "$@"\n'
    ray = f'#!/usr/bin/env bash\nexec {Path(sys.executable).parent}/ray "$@"\n'
    here = place(slurm / "repo", athenan=program, ray=ray)
    words = ["experiment=tictactoe_smoke", "games=null", "minutes=2", "layout.cpus=1",
             "layout.gpus=0", "self_play.threads=1", "self_play.games_in_step=8",
             "replay.games=50", "strength.every_checkpoints=0"]  # fmt: skip
    said = submit(here, "-N2", "-c2", "scripts/slurm/cluster.sbatch", "big", *words,
                  minutes=4, before=130)  # fmt: skip
    print(said)
    assert said.count("going on from") == 1
    log = (here / "checkpoints/tictactoe/big/log.txt").read_text()
    assert log.count(" plays\n") == 4, "two actors, twice"
    state = read_state(steps_of(here / "checkpoints/tictactoe/big")[-1])
    assert (state["repeated"], state["missing"]) == (0, 0)

"""Many runs of one command: names, cores, what ends a sweep, and its table."""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from commands import run

from athenan import sweep as sweeping
from athenan.command import main
from athenan.config import parse_overrides
from athenan.errors import InputError
from athenan.run import check_name
from athenan.sweep import Sweep, closing_table, make_jobs

# Stands for training: its seed says how it ends, and it is stopped as training is.
PROGRAM = """
import json, os, pathlib, signal, sys, time
settings = dict(word.split("=", 1) for word in sys.argv[2:])
run = pathlib.Path("checkpoints/tictactoe") / settings["run"].strip("'")
run.mkdir(parents=True)
facts = {"began": time.time(), "cores": sorted(os.sched_getaffinity(0))}
def stop(number, _):
    (run / "stopped").write_text(str(number))
    sys.exit(130 if number == signal.SIGINT else 75)
signal.signal(signal.SIGINT, stop)
signal.signal(signal.SIGTERM, stop)
print("at work", flush=True)
seed = int(settings["seed"])
time.sleep(60 if seed == 9 else 0.3)
if seed == 3:
    print("athenan: too bad.", file=sys.stderr)
    sys.exit(2)
if seed == 4:
    os.kill(os.getpid(), signal.SIGKILL)
if seed in (130, 75):
    sys.exit(seed)
uct = {"score": 0.8, "low": 0.7, "high": 0.9}
facts |= {"ended": time.time(), "games": 7, "samples": 12345, "strength": {"uct": uct}}
(run / "report.json").write_text(json.dumps(facts | {"held_out_error": 0.25}))
"""
SMALL = ["experiment=tictactoe_smoke"]


@pytest.fixture(autouse=True)
def _a_stand_in_for_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.setattr(sweeping, "PROGRAM", [sys.executable, str(tmp_path / "program.py")])


def sweep_of(words: str, at_once: int | None = None) -> Sweep:
    made = Sweep(make_jobs([*SMALL, *words.split()]), at_once)
    made.run()
    return made


def test_names_say_what_differs() -> None:
    jobs = make_jobs([*SMALL, "games=5", "seed=0,1", "network=conv,small"])
    names = ["seed-0+network-conv", "seed-0+network-small"]
    assert [job.run.name for job in jobs] == [*names, *(n.replace("0", "1") for n in names)]
    assert jobs[1].differing == {"seed": "0", "network": "small"}
    assert jobs[1].name == "seed=0 network=small"
    assert jobs[0].run.parent == Path("checkpoints/tictactoe")


@pytest.mark.parametrize(
    "words",
    [
        "learn.learning_rate=1e-3,0.01",
        "self_play.batch_sizes=[16,64],[32]",
        "checkpoints=a/b,../c",
        "experiment_name='a b','ä/b'",
        "experiment_name=" + ",".join(letter * 300 for letter in "ab"),
    ],
)
def test_names_are_folders_and_need_no_quotes(words: str) -> None:
    jobs = make_jobs([*SMALL, words])
    assert len({job.run for job in jobs}) == 2
    for job in jobs:
        check_name(job.run.name)
        job.run.mkdir(parents=True)
        (parsed,) = parse_overrides([f"resume={job.run}"])
        assert parsed.value() == str(job.run)
        assert job.config.game["name"] == job.run.parent.name


def test_a_name_that_is_taken_gets_a_number() -> None:
    Path("checkpoints/tictactoe/seed-0").mkdir(parents=True)
    names = [job.run.name for job in make_jobs([*SMALL, "seed=0,1,0"])]
    assert names == ["seed-0_2", "seed-1", "seed-0_3"]


def test_names_of_ones_own() -> None:
    jobs = make_jobs([*SMALL, "seed=0,1", "run=s${seed}"])
    assert [job.run.name for job in jobs] == ["s0", "s1"]
    with pytest.raises(InputError, match="Several jobs would write run"):
        make_jobs([*SMALL, "seed=0,1", "run=mine"])


def test_all_jobs_are_checked_before_one_begins(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = "network=conv,cnov; games=5,-1; seed=0,1 run=a; seed=0 --jobs=0; --jobs many seed=0,1"
    for words in wrong.split("; "):
        code, out, err = run(capsys, ["train", "--multirun", *SMALL, *words.split()])
        assert (code, out) == (2, "")
        assert err.count("\n") == 1
    code, _, err = run(capsys, ["train", *SMALL, "--jobs=2"])
    assert code == 2
    assert "for the runs of '--multirun'" in err
    assert not Path("checkpoints").exists()


@pytest.mark.parametrize(
    ("cores", "threads", "jobs", "at_once"),
    [(2, 2, 4, 1), (8, 2, 9, 4), (8, 2, 3, 3), (8, 3, 9, 2), (1, 2, 4, 1)],
)
def test_as_many_at_once_as_there_are_cores_for(
    monkeypatch: pytest.MonkeyPatch, cores: int, threads: int, jobs: int, at_once: int
) -> None:
    monkeypatch.setattr(sweeping, "cores", lambda: list(range(cores)))
    seeds = f"seed=range({jobs})"
    made = make_jobs([*SMALL, seeds, f"self_play.threads={threads}"])
    assert Sweep(made).at_once == at_once
    assert Sweep(made, 2).at_once == 2, "as one says"


def test_jobs_side_by_side_have_cores_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    done = sweep_of("seed=0,1", at_once=2)
    first, second = (job.figures for job in done.jobs)
    assert max(first["began"], second["began"]) < min(first["ended"], second["ended"])
    if len(sweeping.cores()) > 1:
        assert not set(first["cores"]) & set(second["cores"])
    out = capsys.readouterr().out
    assert "[1/2] seed=0: checkpoints/tictactoe/seed-0\n" in out
    assert "seed=1 | at work\n" in out


def test_one_after_another(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = (job.figures for job in sweep_of("seed=0,1", at_once=1).jobs)
    assert first["ended"] <= second["began"]
    assert first["cores"] == second["cores"] == sweeping.cores()
    out = capsys.readouterr().out
    assert out.index("seed=0 | at work") < out.index("[2/2]")


def test_the_closing_table(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["train", "-m", *SMALL, "seed=0,1", "games=5", "--json"]
    code, out, err = run(capsys, words)
    assert (code, err) == (0, "")
    *_, head, first, second, figures = out.splitlines()
    assert head.split() == ["seed", "games", "samples", "strength", "held-out", "error", "run"]
    assert first.split()[:3] == ["0", "7", "12.3k"]
    for text in ("uct 80% [70%, 90%]", "0.2500", "checkpoints/tictactoe/seed-1"):
        assert text in second
    jobs = json.loads(figures)["jobs"]
    assert [(job["settings"], job["exit_code"]) for job in jobs] == [
        ({"seed": "0"}, 0), ({"seed": "1"}, 0),
    ]  # fmt: skip
    assert jobs[1]["strength"]["uct"]["low"] == 0.7


def test_a_job_that_fails_is_told_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, ["train", "-m", *SMALL, "seed=3,4,0", "--jobs=3"])
    assert code == 1
    assert "seed=3 | athenan: too bad." in out
    assert "2 of 3 jobs did not go well: seed=3 (failed, exit code 2); seed=4 (killed by" in err
    assert "12.3k" in out.splitlines()[-1], "the others go on"
    assert "seed-3 (failed, exit code 2)" in out


@pytest.mark.parametrize(("seed", "heard"), [(130, signal.SIGINT), (75, signal.SIGTERM)])
def test_a_job_that_is_stopped_stops_all(
    capsys: pytest.CaptureFixture[str], seed: int, heard: int
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["train", "-m", *SMALL, f"seed=9,{seed},0", "--jobs=2"])
    assert ended.value.code == seed
    captured = capsys.readouterr()
    assert "stopped, with 1 of 3 jobs not started" in captured.err
    assert "seed-0 (not started)" in captured.out
    assert Path("checkpoints/tictactoe/seed-9/stopped").read_text() == str(int(heard))
    assert not Path("checkpoints/tictactoe/seed-0").exists()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 75)])
def test_a_signal_to_the_sweep_ends_its_jobs(
    capsys: pytest.CaptureFixture[str], number: int, code: int
) -> None:
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)

    def send() -> None:
        began = time.monotonic()
        while "at work" not in capsys.readouterr().out and time.monotonic() < began + 20:
            time.sleep(0.05)
        os.kill(os.getpid(), number)

    threading.Thread(target=send).start()
    made = sweep_of("seed=9,0", at_once=1)
    assert made.stopped == code
    assert [job.code for job in made.jobs] == [code, None]
    assert handlers == (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM))


def test_figures_of_an_older_report_are_not_shown() -> None:
    made: Any = make_jobs([*SMALL, "seed=3,0"])
    old = Path("old")
    old.mkdir()
    (old / "report.json").write_text('{"games": 1}')
    os.utime(old / "report.json", (1, 1))
    made[0].run, made[0].code = old, 2
    made[0].figures = sweeping.read_figures(old, since=time.time() - 60)
    assert "old (failed, exit code 2)" in closing_table(made)[1]
    assert closing_table(made)[1].split()[1] == "-"

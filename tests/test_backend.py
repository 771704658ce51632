"""What computes is said truly, with the reason why a GPU that is here does not; what libraries
write below Python is kept where it is wanted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from athenan import backend
from athenan.backend import device_line


class FakeTensorFlow:
    """As far as it is asked about devices."""

    def __init__(self, gpus: list[str], cuda: bool = False, rocm: bool = False) -> None:
        devices = [SimpleNamespace(name=f"/physical_device:GPU:{i}") for i in range(len(gpus))]
        named = {device.name: {"device_name": gpu} for device, gpu in zip(devices, gpus)}  # noqa: B905
        self.config = SimpleNamespace(
            get_visible_devices=lambda kind: devices if kind == "GPU" else [],
            experimental=SimpleNamespace(get_device_details=lambda device: named[device.name]),
        )
        self.test = SimpleNamespace(
            is_built_with_cuda=lambda: cuda, is_built_with_rocm=lambda: rocm
        )


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A machine with these GPUs, drivers and TensorFlow."""

    def set_up(maker: str | None, gpus: list[str], **built: bool) -> None:
        monkeypatch.setattr(backend, "tensorflow", lambda: FakeTensorFlow(gpus, **built))
        monkeypatch.setattr(backend, "gpu_driver", lambda: maker)
        monkeypatch.setattr(backend, "cores", lambda: 2)
        monkeypatch.setattr(backend, "with_version", lambda runtime: f"{runtime} 9")
        monkeypatch.setattr(backend, "_kept_in", None)
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        monkeypatch.delenv(backend.MESSAGES, raising=False)

    return set_up


def test_a_machine_without_a_gpu(machine: Any) -> None:
    machine(None, [])
    assert device_line() == "TensorFlow 9, float32, CPU, 2 threads"
    assert device_line("LiteRT", "int8", 1) == "LiteRT 9, int8, CPU, 1 thread"


def test_gpus_by_their_names(machine: Any) -> None:
    machine("NVIDIA", ["NVIDIA A100", "NVIDIA T4"], cuda=True)
    assert device_line(precision="mixed_float16") == (
        "TensorFlow 9, mixed_float16, GPU NVIDIA A100 and GPU NVIDIA T4"
    )


def test_why_a_gpu_is_not_used(machine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def why() -> str:
        line = device_line()
        assert line.startswith("TensorFlow 9, float32, CPU, 2 threads; an ")
        return line.partition(" GPU is here but unused: ")[2]

    machine("NVIDIA", [])
    assert why() == "this TensorFlow is built without CUDA"
    machine("AMD", [], cuda=True)
    assert why() == "this TensorFlow is built without ROCm"
    machine("NVIDIA", [], cuda=True)
    assert "cannot use its driver or libraries" in why()
    assert backend.MESSAGES in why()
    backend.keep_messages(Path("run/tensorflow.txt"))
    assert "(see run/tensorflow.txt)" in why()
    for hidden in ("", "-1"):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hidden)
        assert why() == "CUDA_VISIBLE_DEVICES hides it"
    assert "unused: LiteRT computes on the CPU" in device_line("LiteRT")


@pytest.mark.parametrize("maker", ["NVIDIA", "AMD"])
def test_a_driver_shows_itself(maker: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(backend, "DRIVERS", {maker: (str(tmp_path / "driver"),)})
    monkeypatch.setattr(backend.shutil, "which", lambda _: None)
    assert backend.gpu_driver() is None
    (tmp_path / "driver").touch()
    assert backend.gpu_driver() == maker


def test_nvidia_smi_shows_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "DRIVERS", {})
    monkeypatch.setattr(backend.shutil, "which", lambda name: f"/bin/{name}")
    assert backend.gpu_driver() == "NVIDIA"


def test_versions_are_those_of_the_packages() -> None:
    assert backend.with_version("TensorFlow").split()[1][0].isdigit()
    assert backend.with_version("nothing") == "nothing"


# ---- Messages --------------------------------------------------------------------------


def write_below_python(text: str) -> None:
    with backend.quiet():
        os.write(2, text.encode())


def test_messages_go_to_the_file_of_the_run(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(backend.MESSAGES, raising=False)
    monkeypatch.setattr(backend, "_kept_in", None)
    write_below_python("lost\n")
    kept = tmp_path / "tensorflow.txt"
    backend.keep_messages(kept)
    write_below_python("")
    assert not kept.exists(), "nothing is no file"
    write_below_python("one\n")
    write_below_python("two\n")
    assert kept.read_text() == "one\ntwo\n"
    monkeypatch.setenv(backend.MESSAGES, str(tmp_path / "mine.txt"))
    write_below_python("three\n")
    assert (tmp_path / "mine.txt").read_text() == "three\n"
    monkeypatch.setenv(backend.MESSAGES, str(tmp_path / "none" / "mine.txt"))
    write_below_python("four\n")
    assert capfd.readouterr().err == ""


@pytest.mark.slow
def test_what_tensorflow_says_is_kept_where_the_environment_names_a_file(tmp_path: Path) -> None:
    """Warnings are dropped by TensorFlow itself unless somebody keeps them."""
    program = "from athenan.backend import tensorflow; tensorflow(); import os, sys; "
    program += "print(os.environ['TF_CPP_MIN_LOG_LEVEL'])"
    for name, level in ((str(tmp_path / "said.txt"), "1"), ("", "2")):
        environment = {k: v for k, v in os.environ.items() if k != "TF_CPP_MIN_LOG_LEVEL"}
        environment[backend.MESSAGES] = name
        ran = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True
        )
        assert (ran.stdout.strip(), ran.stderr) == (level, "")

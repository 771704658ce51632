"""The machine and what is installed on it: what a layout can be made of."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from athenan.backend import cores

COMPILERS = ("c++", "g++", "clang++")
CLUSTER = "RAY_ADDRESS"


@dataclass(frozen=True)
class Machine:
    cores: int  # of the machine
    allowed_cores: int  # by affinity
    limited_cores: float | None  # by control group
    memory: int  # bytes of the machine
    limited_memory: int | None  # by control group
    disk: int  # bytes free in the folder of the runs

    @property
    def usable_cores(self) -> float:
        return min(self.allowed_cores, self.limited_cores or self.allowed_cores)

    @property
    def usable_memory(self) -> int:
        return min(self.memory, self.limited_memory or self.memory)


def look_at(checkpoints: Path) -> Machine:
    cpu, memory = limits_of_group()
    there = next(p for p in (checkpoints.absolute(), *checkpoints.absolute().parents) if p.exists())
    return Machine(
        os.cpu_count() or 1, cores(), cpu,
        os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), memory,
        shutil.disk_usage(there).free,
    )  # fmt: skip


def limits_of_group(system: Path = Path("/")) -> tuple[float | None, int | None]:
    """(cores, bytes) that the control groups of this process allow, of either version."""
    groups = system / "sys/fs/cgroup"
    own = {"cpu": [groups / "cpu"], "memory": [groups / "memory"], "": [groups]}
    for line in read(system / "proc/self/cgroup").splitlines():
        _, names, path = line.split(":", 2)
        for name in names.split(","):
            if name in own:
                place = own[name][0] / path.strip("/")
                own[name] += [place, *(p for p in place.parents if groups in p.parents)]
    cpus, bytes_ = [], []
    for folder in own[""]:
        quota, _, period = read(folder / "cpu.max").partition(" ")
        if quota.isdecimal() and period.isdecimal():
            cpus.append(int(quota) / int(period))
        if (text := read(folder / "memory.max")).isdecimal():
            bytes_.append(int(text))
    for folder in own["cpu"]:
        quota, period = (read(folder / f"cpu.cfs_{name}_us") for name in ("quota", "period"))
        if quota.isdecimal() and period.isdecimal():
            cpus.append(int(quota) / int(period))
    for folder in own["memory"]:
        if (text := read(folder / "memory.limit_in_bytes")).isdecimal() and int(text) < 2**60:
            bytes_.append(int(text))
    return min(cpus, default=None), min(bytes_, default=None)


def read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def compiler() -> str | None:
    """The first one of those that setting up tries, with its version."""
    for name in [os.environ["CXX"]] if os.environ.get("CXX") else COMPILERS:
        if shutil.which(name):
            with suppress(OSError, subprocess.SubprocessError):
                told = subprocess.run(
                    [name, "--version"], capture_output=True, text=True, timeout=10, check=True
                )
                return told.stdout.splitlines()[0]
    return None


def installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def packages() -> dict[str, dict[str, str | None]]:
    """Versions of what athenan needs, by extra ("" for what it always needs)."""
    found: dict[str, dict[str, str | None]] = {"": {}}
    with suppress(PackageNotFoundError):
        for line in requires("athenan") or []:
            requirement, _, marker = line.partition(";")
            name = re.match(r"[\w.-]+", requirement)
            extra = re.search(r"extra == ['\"]([\w-]+)['\"]", marker)
            if name and name[0] != "athenan" and "[" not in requirement:
                found.setdefault(extra[1] if extra else "", {})[name[0]] = installed(name[0])
    return found


def python() -> str:
    return f"{platform.python_implementation()} {platform.python_version()}"


def installed_tensorflow() -> bool:
    """Of whatever package: builds for other devices are packages of other names."""
    return importlib.util.find_spec("tensorflow") is not None


def ray_address() -> str:
    return os.environ.get(CLUSTER, "")


def cluster() -> tuple[str | None, bool]:
    """(version of Ray, whether the cluster that RAY_ADDRESS names answers)."""
    address = ray_address()
    return installed("ray"), ":" in address and answers(address)


def answers(address: str) -> bool:
    import socket

    host, _, port = address.rpartition(":")
    with suppress(OSError, ValueError, OverflowError):
        socket.create_connection((host.rpartition("/")[2], int(port)), timeout=1).close()
        return True
    return False

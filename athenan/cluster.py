"""Ray, imported only here and in ray_actors.py: one of the run's own on this machine, or a cluster
that is joined."""

from __future__ import annotations

import atexit
import logging
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from athenan.backend import cores, quiet, tensorflow
from athenan.errors import InputError
from athenan.placement import VISIBLE, gpus_of_learner
from athenan.settings import LayoutSettings
from athenan.stopping import EXIT_CODES

REACH_SECONDS = 5.0  # that a cluster has to answer at its address
LONGEST_PATH = 40  # of Ray's folder: the names of its sockets have 107 bytes at most

# What Ray reads when it is imported, for one of our own. The first is the only setting that keeps
# every one of its ports on 127.0.0.1; it forbids a cluster.
OWN = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_AUTH_MODE": "token",
    "RAY_USAGE_STATS_ENABLED": "0",
}
# Ends what Ray leaves behind where this process is killed: its agents live on for a minute. The
# standard input ends when this process does, whatever ends it; $0 is Ray's folder.
GUARD = """
read _
sleep 2
for pid in "$@"; do
  case "$(cat /proc/$pid/comm 2>/dev/null)" in ray::*|raylet|gcs_server) kill -9 $pid ;; esac
done
rm -rf "$0"
"""


class Cluster:
    """Started or joined at once; `close()` ends what was started."""

    def __init__(self, layout: LayoutSettings) -> None:
        self.own = layout.address is None
        self.folder = Path(tempfile.mkdtemp(prefix="athenan-", dir=short_folder()))
        self._begun = False
        self._guard: subprocess.Popen[bytes] | None = None
        self._servers: dict[int, str] = {}  # Ray's processes that all depends on
        rename_devices(os.environ)
        try:
            if self.own:
                set_up_own(self.folder)
            self.ray = import_ray()
            with own_signals(), quiet():
                if self.own:
                    self._start(layout)
                else:
                    self._join(str(layout.address))
        except BaseException:
            self.close()
            raise

    def _start(self, layout: LayoutSettings) -> None:
        with devices_for_actors(layout) as devices:
            self._begun = True
            self.ray.init(
                address="local",
                num_cpus=max(cores(), (layout.actors or 1) * layout.cpus),
                num_gpus=devices,
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.CRITICAL,
                object_store_memory=layout.object_store_mb * 2**20,
                _temp_dir=str(self.folder / "ray"),  # which it opens to everybody; ours is closed
            )
        found = processes_of(os.getpid())
        self._servers = {pid: name for pid, name in found.items() if name in SERVERS}
        self._guard = subprocess.Popen(
            ["sh", "-c", GUARD, str(self.folder), *map(str, found)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _join(self, address: str) -> None:
        if address != "auto":
            reach(address)
        self._begun = True
        try:
            self.ray.init(address=address, log_to_driver=False, logging_level=logging.CRITICAL)
        except (ConnectionError, RuntimeError, ValueError) as error:
            why = str(error).strip().splitlines()[0].rstrip(".")
            raise InputError(f"No Ray cluster is joined at '{address}': {why}.") from error

    def room(self, layout: LayoutSettings) -> int:
        """For how many actors there is, at least one; waits for the nodes of a cluster."""
        end = time.monotonic() + (0 if self.own else layout.patience_seconds)
        while (number := self.places(layout)) < 1:
            if time.monotonic() >= end:
                has = self.ray.cluster_resources()
                raise InputError(
                    f"Ray has {has.get('CPU', 0):g} cores and {has.get('GPU', 0):g} devices; an "
                    f"actor needs {layout.cpus} and {layout.gpus}: change layout.cpus or "
                    "layout.gpus."
                )
            time.sleep(0.5)
        return number

    def places(self, layout: LayoutSettings) -> int:
        """For actors, as it is now."""
        if self.own and not layout.gpus:
            return max(1, cores() // layout.cpus)
        has = self.ray.cluster_resources()
        number = int(has.get("CPU", 0) // layout.cpus)
        if layout.gpus:
            number = min(number, int(has.get("GPU", 0) // layout.gpus))
        return number

    def broken(self) -> str | None:
        """Which process of a Ray of our own is dead, where one is."""
        for pid, name in self._servers.items():
            if not is_alive(pid):
                return name
        return None

    def close(self) -> None:
        if self._begun:
            self._begun = False
            if self.broken():
                for pid in processes_of(os.getpid()):
                    with suppress(OSError):
                        os.kill(pid, signal.SIGKILL)
                atexit.register(leave)
            else:
                with own_signals(), quiet():
                    self.ray.shutdown()
        if self._guard is not None:
            assert self._guard.stdin is not None
            self._guard.stdin.close()
            self._guard = None
        shutil.rmtree(self.folder, ignore_errors=True)


def set_up_own(folder: Path) -> None:
    """What Ray reads before anything else: ports on 127.0.0.1, and a token that only files of the
    user's own have."""
    usual = {name: os.environ.get(name) for name in OWN} == OWN
    if "ray" in sys.modules and not usual:
        raise InputError(
            "Ray has been imported before athenan could keep it to this machine: start the run in "
            "a process of its own, or join a cluster by layout.address."
        )
    path = folder / "token"
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(token())
    os.environ.update(OWN, RAY_AUTH_TOKEN_PATH=str(path))


@cache
def token() -> str:
    """Of this process: Ray reads it once."""
    return secrets.token_hex(32)


def leave() -> None:
    """The end of a program whose Ray is broken: Ray would wait for a minute, and then crash."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(EXIT_CODES[signal.SIGTERM])


def import_ray() -> Any:
    logging.getLogger("ray").setLevel(logging.CRITICAL)
    try:
        import ray
    except ImportError:
        raise InputError(
            "layout=ray needs Ray, the extra `ray`: pip install 'athenan[ray]', or "
            "./scripts/setup ray."
        ) from None
    return ray


def short_folder() -> str | None:
    """Where a folder of ours has a short enough name."""
    usual = tempfile.gettempdir()
    return usual if len(usual) + len("/athenan-12345678") <= LONGEST_PATH else "/tmp"


def reach(address: str) -> None:
    """Says at once that nobody answers there; Ray would try for long."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise InputError(f"Setting 'layout.address': '{address}' is neither auto nor host:port.")
    try:
        socket.create_connection((host, int(port)), REACH_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise InputError(f"No Ray cluster answers at '{address}' ({error}).") from None


@contextmanager
def own_signals() -> Iterator[None]:
    """Ray would take SIGTERM; who has it keeps it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {n: signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# ---- Devices -----------------------------------------------------------------------------------


def rename_devices(environment: Any) -> None:
    """Job scripts for AMD nodes name the devices by a variable that Ray refuses."""
    told = environment.pop("ROCR_VISIBLE_DEVICES", None)
    if told is not None:
        environment.setdefault("HIP_VISIBLE_DEVICES", told)


@contextmanager
def devices_for_actors(layout: LayoutSettings) -> Iterator[int]:
    """How many of this machine's: those that the learner does not have (placement.py), which are
    the last. What is started meanwhile sees no others."""
    if not layout.gpus:
        yield 0
        return
    tf = tensorflow()
    found = tf.config.list_physical_devices("GPU")
    own = gpus_of_learner(layout)
    wanted = own + layout.gpus * (layout.actors or 1)
    if wanted > len(found):
        raise InputError(
            f"The layout needs {wanted} devices, {own} of them for the learner; "
            f"there are {len(found)} here."
        )
    # TensorFlow has been asked, and does not look at these again here.
    told = {name: os.environ[name] for name in VISIBLE if os.environ.get(name)}
    usual = VISIBLE[0 if tf.test.is_built_with_cuda() else 1]
    numbers = {usual: ",".join(str(number) for number in range(len(found)))} | told
    os.environ.update({name: ",".join(all_.split(",")[own:]) for name, all_ in numbers.items()})
    try:
        yield len(found) - own
    finally:
        for name in numbers:
            os.environ.pop(name)
        os.environ.update(told)


# ---- Processes ---------------------------------------------------------------------------------

SERVERS = ("gcs_server", "raylet")


def processes_of(parent: int) -> dict[int, str]:
    """Ray's processes that this one has started, and theirs: numbers and names."""
    children: dict[int, list[int]] = {}
    names: dict[int, str] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            head, _, rest = path.read_text().rpartition(")")
            number, _, name = head.partition(" (")
            names[int(number)] = name
            children.setdefault(int(rest.split()[1]), []).append(int(number))
    found: dict[int, str] = {}
    waiting = [pid for pid in children.get(parent, []) if names[pid] in SERVERS]
    while waiting:
        pid = waiting.pop()
        found[pid] = names[pid]
        waiting += children.get(pid, [])
    return found


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (OSError, IndexError):
        return False

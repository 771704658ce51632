"""Files: read as if somebody else had written them, and written whole or not at all.

Whatever is wrong with one that is read becomes an OSError or a ValueError, whose sentence the
caller knows: nothing is allocated before its size is known to be there, and nothing but a plain
file is waited for. One that is written stands beside its place until it is whole, then is renamed.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import math
import os
import stat
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
LARGEST_TEXT = 2**26  # bytes
MOST_UNPACKED = 64  # times a file's own size; what is written here hardly shrinks


def open_plain(path: Path) -> io.BufferedReader:
    """A plain file to read; a folder, a pipe or a device is refused rather than waited for."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a plain file", str(path))
    return open(descriptor, "rb")


def read_bytes(path: Path) -> bytes:
    with open_plain(path) as file:
        return file.read()


def read_text(path: Path) -> str:
    with open_plain(path) as file:
        content = file.read(LARGEST_TEXT + 1)
    if len(content) > LARGEST_TEXT:
        raise ValueError("The text is too long.")
    return content.decode()


def read_json(path: Path) -> Any:
    try:
        return json.loads(read_text(path))
    except RecursionError:
        raise ValueError("It is nested too deeply.") from None


def checksum(path: Path) -> str:
    with open_plain(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def has_checksum(path: Path, expected: Any) -> bool:
    """Whether it is the file whose checksum was noted."""
    try:
        return bool(checksum(path) == expected)
    except OSError:
        return False


def read_arrays(path: Path) -> dict[str, Array]:
    """The arrays of an .npz file by their names, none of them of objects."""
    with open_plain(path) as file:
        size = os.fstat(file.fileno()).st_size
        try:
            with zipfile.ZipFile(file) as archive:
                members = archive.infolist()
                if sum(member.file_size for member in members) > MOST_UNPACKED * size:
                    raise ValueError("It is much larger unpacked.")
                return {
                    member.filename.removesuffix(".npy"): read_array(archive, member)
                    for member in members
                }
        except OSError:
            raise
        except Exception:  # of zip, zlib, numpy, and what numpy reads a header with
            raise ValueError(f"'{path}' is damaged.") from None


def read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Array:
    """Its header promises as many bytes as there are, or nothing is read."""
    form = np.lib.format
    with archive.open(member) as file:
        version = form.read_magic(file)
        read_header = {(1, 0): form.read_array_header_1_0, (2, 0): form.read_array_header_2_0}
        shape, _, dtype = read_header[version](file)
        held = member.file_size - file.tell()
        if (
            dtype.hasobject
            or min(shape, default=0) < 0
            or math.prod(shape) * dtype.itemsize != held
        ):
            raise ValueError("It promises other bytes than it has.")
        file.seek(0)
        array: Array = form.read_array(file, allow_pickle=False)
        if file.read(1):  # at the end the archive compares the member's checksum
            raise ValueError("It goes on after its end.")
        return array


def write_synced(path: Path, data: bytes) -> None:
    """On the disk when this returns; an error of the system names the file."""
    try:
        with path.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def write_whole(path: Path, data: bytes) -> None:
    """The old content stays until the new one is there whole."""
    beside = path.with_name(f".{path.name}.tmp")
    try:
        write_synced(beside, data)
        os.replace(beside, path)
    except OSError:
        with suppress(OSError):
            beside.unlink()  # a full disk has better use for it
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """What was renamed in it stays so after a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def reason(error: OSError) -> str:
    """What the system says, and of which file where it knows."""
    text = error.strerror or str(error)
    return f"'{error.filename}': {text}" if error.filename else text

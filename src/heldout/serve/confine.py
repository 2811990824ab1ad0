"""Which files a process may open, enforced by the kernel (Landlock, Linux 5.13 and later).

Only the standard library is used: a supervisor applies this just before it starts a program.
Elsewhere, or on an older kernel, :func:`available` is false and nothing is enforced.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable
from pathlib import Path

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH = 1
_NO_NEW_PRIVS = 38
_DROP_CAPABILITY = 24
_LOOKING = (2, 16, 17, 19, 21, 38)
"""Capabilities with which root looks past a rule: search any folder, modules, raw devices, other
processes' memory and environment, mounts."""
_READ = 0b1101
"""Execute, read a file, read a folder."""
_BITS_BY_ABI = {1: 13, 2: 14}
_MOST_BITS = 15
_FILE_ONLY = 0b100000000000111
"""Rights that a file may have; a rule on one with a folder's rights is refused."""


class _Ruleset(ctypes.Structure):
    _fields_ = (("handled_access_fs", ctypes.c_uint64),)


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _version() -> int:
    if not sys.platform.startswith("linux"):
        return 0
    return int(_libc().syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG)))


def available() -> bool:
    """True where the kernel can confine this process."""
    return _version() > 0


def allow_only(readable: Iterable[Path], writable: Iterable[Path] = ()) -> bool:
    """From now on this process and its children open files beneath these paths only.

    Returns whether it holds; there is no way back. Paths that do not exist are left out.
    """
    abi = _version()
    if abi <= 0:
        return False
    every = (1 << _BITS_BY_ABI.get(abi, _MOST_BITS)) - 1
    libc = _libc()
    rules = _Ruleset(every)
    ruleset = libc.syscall(
        _CREATE, ctypes.byref(rules), ctypes.c_size_t(ctypes.sizeof(rules)), ctypes.c_uint32(0)
    )
    if ruleset < 0:
        return False
    try:
        for paths, rights in ((readable, _READ), (writable, every)):
            for path in paths:
                _rule(libc, ruleset, path, rights & every)
        if libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
            return False
        return bool(libc.syscall(_RESTRICT, ruleset, ctypes.c_uint32(0)) == 0)
    finally:
        os.close(ruleset)


def _rule(libc: ctypes.CDLL, ruleset: int, path: Path, rights: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        rights = rights if path.is_dir() else rights & _FILE_ONLY
        beneath = _Beneath(rights, handle)
        libc.syscall(_ADD, ruleset, _PATH_BENEATH, ctypes.byref(beneath), ctypes.c_uint32(0))
    finally:
        os.close(handle)


def hide(hidden: Iterable[Path], read_only: Path | None = None) -> bool:
    """From now on this process and its children open nothing beneath the hidden paths.

    What lies beneath ``read_only`` cannot be written. Programs started from here on cannot look
    into other processes either, as root or not. Landlock only knows what is allowed, so
    everything beside the way to the hidden paths is; nothing can be made anew in the folders on
    that way. Returns whether it holds.
    """
    open_ = beside([*hidden, *([read_only] if read_only else [])])
    kept = []
    if read_only is not None:
        home = Path(os.path.realpath(read_only))
        kept = [path for path in beside(hidden) if path.is_relative_to(home)]
    held = allow_only(kept, open_)
    if held:
        for capability in _LOOKING:  # Only root has them to lose; for others this does nothing.
            _libc().prctl(_DROP_CAPABILITY, capability, 0, 0, 0)
    return held


def beside(hidden: Iterable[Path]) -> list[Path]:
    """The smallest set of paths that covers everything but the hidden ones and the way to them."""
    away = {Path(os.path.realpath(path)) for path in hidden}
    found: list[Path] = []
    on_the_way = {Path("/")} | {parent for path in away for parent in path.parents}
    for folder in sorted(on_the_way):
        if folder in away or any(parent in away for parent in folder.parents):
            continue
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        for entry in entries:
            child = Path(entry.path)
            # A link would carry the rule to where it leads, which may be the way to a hidden path.
            if child not in away and child not in on_the_way and not entry.is_symlink():
                found.append(child)
    return found

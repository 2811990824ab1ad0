"""Runs in the child, first: shut every door, then wait for trees to run. Standard library only.

The process tree::

    outer        new user, mount, network, PID, IPC and UTS namespaces; waits
    └── zygote   process 1 of the new namespace: empty root, nothing on disk, modules loaded
        └── keeper   a PID namespace of its own for each run, so that its end ends everything in it
            └── run      no capabilities, no way to gain any, limits; the candidate's code

Where namespaces are not to be had the run is a plain process with limits, and says so (tier).
"""

import ctypes
import json
import os
import resource
import signal
import struct

NEWUSER, NEWNS, NEWPID, NEWNET = 0x10000000, 0x00020000, 0x20000000, 0x40000000
NEWIPC, NEWUTS = 0x08000000, 0x04000000
MS_REC, MS_PRIVATE, MS_BIND = 0x4000, 0x40000, 0x1000
MNT_DETACH = 2
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP = 1, 38, 24
PR_SET_SECCOMP, FILTER = 22, 2
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
FORBIDDEN = {
    # Number of the architecture; clone, fork, vfork, clone3, execve, execveat, ptrace, socket,
    # socketpair, io_uring_setup.
    "x86_64": (0xC000003E, (56, 57, 58, 435, 59, 322, 101, 41, 53, 425)),
    "aarch64": (0xC00000B7, (220, 435, 221, 281, 117, 198, 199, 425)),
}
"""System calls that a run has no use for: no process or thread beside it, no program, no socket."""

LOADED = (
    "abc", "asyncio", "base64", "bisect", "collections", "collections.abc", "contextlib", "copy",
    "dataclasses", "datetime", "decimal", "enum", "functools", "hashlib", "heapq", "hmac",
    "inspect", "io", "itertools", "json", "logging", "math", "operator", "random", "re",
    "statistics", "string", "textwrap", "time", "traceback", "types", "typing", "urllib.parse",
    "uuid", "zlib", "linecache", "encodings.idna", "selectors", "importlib.util", "importlib.abc",
)  # fmt: skip
"""All of the standard library that a run can import: there is no disk to load more from."""

libc = ctypes.CDLL(None, use_errno=True)


def check(result):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def read_frame(fd):
    head = read_exactly(fd, 4)
    return json.loads(read_exactly(fd, struct.unpack("<I", head)[0]))


def read_exactly(fd, count):
    parts = []
    while count:
        part = os.read(fd, min(count, 65536))
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def write_frame(fd, value):
    data = json.dumps(value, separators=(",", ":")).encode()
    data = struct.pack("<I", len(data)) + data
    while data:
        data = data[os.write(fd, data) :]


def unshare(flags):
    check(libc.unshare(ctypes.c_int(flags)))


def new_namespaces(empty):
    """Enter namespaces of one's own and make ``empty`` the root; needs no privilege."""
    uid, gid = os.getuid(), os.getgid()
    unshare(NEWUSER | NEWNS | NEWPID | NEWNET | NEWIPC | NEWUTS)
    for name, text in (
        ("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1"),
    ):  # fmt: skip
        with open(f"/proc/self/{name}", "w") as stream:
            stream.write(text)
    with open("/proc/sys/user/max_user_namespaces", "w") as stream:
        stream.write("0")  # Nobody below gets capabilities anew by a namespace of their own.
    root = empty.encode()
    check(libc.mount(b"none", b"/", None, ctypes.c_ulong(MS_REC | MS_PRIVATE), None))
    check(libc.mount(b"tmpfs", root, b"tmpfs", ctypes.c_ulong(1), b"size=64k,mode=555"))
    return root


def leave_the_disk(root):
    """Swap the root for the empty one and let go of the old: afterwards no path leads out."""
    os.chdir(root)
    check(libc.syscall(PIVOT_ROOT[os.uname().machine], b".", b"."))
    check(libc.umount2(b".", MNT_DETACH))
    os.chdir("/")


def drop_everything():
    """No capability, none to be gained."""
    for capability in range(64):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    header = struct.pack("<Ii", 0x20080522, 0)
    check(libc.capset(header, struct.pack("<6I", 0, 0, 0, 0, 0, 0)))


class Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("jt", ctypes.c_uint8), ("jf", ctypes.c_uint8),
                ("k", ctypes.c_uint32))  # fmt: skip


class Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("program", ctypes.POINTER(Instruction)))


def forbid():
    """From now on the kernel refuses what stands in ``FORBIDDEN``; there is no way back."""
    if os.uname().machine not in FORBIDDEN:
        return
    architecture, calls = FORBIDDEN[os.uname().machine]
    load, equal, least, answer = 0x20, 0x15, 0x35, 0x06
    allow, refuse, kill = 0x7FFF0000, 0x00050001, 0x80000000
    lines = [(load, 0, 0, 4), (equal, 1, 0, architecture), (answer, 0, 0, kill), (load, 0, 0, 0)]
    # A second numbering of the same calls begins there on x86_64.
    tests = [(least, 0x40000000), *((equal, number) for number in calls)]
    for at, (code, number) in enumerate(tests):
        lines.append((code, len(tests) - at, 0, number))
    lines += [(answer, 0, 0, allow), (answer, 0, 0, refuse)]
    program = (Instruction * len(lines))(*(Instruction(*one) for one in lines))
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    given = Filter(len(lines), program)
    check(libc.prctl(PR_SET_SECCOMP, FILTER, ctypes.byref(given), 0, 0))


def limit(limits):
    for name, value in limits.items():
        number = getattr(resource, name)
        hard = resource.getrlimit(number)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(number, (value, value))


def close_all_but(kept):
    highest = min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 4096)
    last = 2
    for fd in sorted(kept):
        if fd > last + 1:
            os.closerange(last + 1, fd)
        last = max(last, fd)
    os.closerange(last + 1, highest)


def zygote(control_in, control_out, data_in, data_out, tier, inside, limits):
    """Load what a run may import, then run one tree after another until the pipe closes."""
    for name in LOADED:
        __import__(name)
    code = compile(inside, "inside.py", "exec")
    write_frame(control_out, {"tier": tier})
    while True:
        try:
            request = read_frame(control_in)
        except EOFError:
            os._exit(0)
        pid = os.fork()
        if pid == 0:
            keep(request, code, (data_in, data_out), tier, limits)
        _, status = os.waitpid(pid, 0)
        write_frame(control_out, {"ended": os.waitstatus_to_exitcode(status)})


def keep(request, code, data, tier, limits):
    """Hold a run in a PID namespace of its own: when it ends, nothing of it is left."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    close_all_but(data)
    if tier == "jail":
        unshare(NEWPID)
        pid = os.fork()
        if pid:
            os.closerange(3, 4096)
            _, status = os.waitpid(pid, 0)
            code_ = os.waitstatus_to_exitcode(status)
            os._exit(code_ if code_ >= 0 else 128 - code_)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        drop_everything()
    else:
        os.setsid()
    limit(limits)
    forbid()
    own = {"__name__": "inside", "__builtins__": __builtins__}
    exec(code, own)
    try:
        own["serve"](request, *data)
    except EOFError:
        os._exit(0)
    except BaseException:  # noqa: BLE001 - the boundary of the process
        os._exit(70)
    os._exit(0)


def main(data_in, data_out, control_in, control_out):
    start = read_frame(control_in)
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    close_all_but((data_in, data_out, control_in, control_out))
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    tier = "jail"
    try:
        if start["tier"] != "jail":
            raise OSError
        root = new_namespaces(start["empty"])
    except (OSError, KeyError):
        tier = "limits"
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
        os._exit(0)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if tier == "jail":
        for name in LOADED:
            __import__(name)
        try:
            leave_the_disk(root)
        except (OSError, KeyError):
            os._exit(71)
    zygote(control_in, control_out, data_in, data_out, tier, start["inside"], start["limits"])

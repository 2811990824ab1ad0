"""Runs in the jailed child: loads a tree and serves it, on a clock that the other side owns.

Standard library only. One frame comes in, everything that can run without waiting runs, one frame
goes out with what was asked for (``out``) and when this side would wake by itself (``until``).
"""

import asyncio
import importlib.abc
import importlib.util
import inspect
import json
import linecache
import os
import random
import struct
import sys
import time
import traceback
import types

MAX_OUT = 1_000_000
PLAIN = (str, int, float, bool, type(None))


def read_exactly(fd, count):
    parts = []
    while count:
        part = os.read(fd, min(count, 65536))
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def read_frame(fd):
    return json.loads(read_exactly(fd, struct.unpack("<I", read_exactly(fd, 4))[0]))


def write_frame(fd, value):
    data = json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
    data = struct.pack("<I", len(data)) + data
    while data:
        data = data[os.write(fd, data) :]


def plain(value, depth=0):
    """The value rebuilt from exact built-in types; anything else is its own failure."""
    if depth > 30:
        raise TypeError("nested too deeply for an answer")
    if type(value) in PLAIN:
        return value
    if type(value) in (list, tuple):
        return [plain(one, depth + 1) for one in value]
    if type(value) is dict:
        return {str(key): plain(one, depth + 1) for key, one in value.items()}
    raise TypeError(f"an answer holds a {type(value).__name__}, which is not plain data")


class Wire:
    """The selector of the loop: instead of waiting for sockets it asks what time it is."""

    def __init__(self, data_in, data_out):
        self.fds = (data_in, data_out)
        self.now = 0.0
        self.out = []
        self.take = None
        self.loop = None

    def select(self, timeout=None):
        if timeout is not None and timeout <= 0:
            return []
        until = None if timeout is None else self.now + timeout
        out, self.out = self.out, []
        write_frame(self.fds[1], {"out": out, "until": until})
        frame = read_frame(self.fds[0])
        if "end" in frame:
            os._exit(0)
        self.now = frame["now"]
        for event in frame["deliver"]:
            self.loop.call_soon(self.take, event)
        return []

    def register(self, *args):
        return None

    unregister = modify = register

    def get_map(self):
        return {}

    def close(self):
        return None


class Loop(asyncio.SelectorEventLoop):
    """An event loop on somebody else's clock, without sockets."""

    def __init__(self, wire):
        self.wire = wire
        super().__init__(wire)

    def time(self):
        return self.wire.now

    def _make_self_pipe(self):
        self._ssock = self._csock = None
        self._internal_fds = 0

    def _close_self_pipe(self):
        return None

    def _write_to_self(self):
        return None


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules of the tree, from memory."""

    def __init__(self, files):
        self.files = files

    def find_spec(self, name, path=None, target=None):
        stem = name.replace(".", "/")
        for file, package in ((f"{stem}/__init__.py", True), (f"{stem}.py", False)):
            if file in self.files:
                return importlib.util.spec_from_loader(name, self, origin=file, is_package=package)
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        file = module.__spec__.origin
        text = self.files[file]
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        module.__file__ = file
        exec(compile(text, file, "exec", dont_inherit=True), module.__dict__)


class HostError(Exception):
    """What the platform refused: ``code`` is a short word, ``detail`` a sentence."""

    def __init__(self, code, detail=""):
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code = code
        self.detail = detail


class Host:
    """The module ``host`` of the tree: everything outside the process, by name."""

    def __init__(self, wire, environment, epoch):
        self.wire = wire
        self.environment = environment
        self.epoch = epoch
        self.waiting = {}
        self.number = 0

    async def call(self, op, **arguments):
        """Ask the platform (database, cache, another service) and wait for its answer."""
        self.number += 1
        number = self.number
        future = asyncio.get_running_loop().create_future()
        self.waiting[number] = future
        self.wire.out.append({"call": number, "op": str(op), "args": plain(arguments)})
        try:
            answer = await future
        except asyncio.CancelledError:
            self.wire.out.append({"cancel": number})
            raise
        finally:
            self.waiting.pop(number, None)
        if "error" in answer:
            raise HostError(answer["error"], answer.get("detail", ""))
        return answer.get("value")

    def tell(self, op, **arguments):
        """Tell the platform something that has no answer, such as that a connection is free."""
        self.wire.out.append({"tell": str(op), "args": plain(arguments)})

    def log(self, service, level, message):
        """Write a line of a service's log."""
        self.wire.out.append(
            {"log": str(service), "level": str(level), "message": str(message)[:2000]}
        )

    def setting(self, name, default=""):
        """A setting of the deployment."""
        return self.environment.get(name, default)

    def now(self):
        """Seconds since the epoch, UTC, on the platform's clock."""
        return self.epoch + self.wire.now


class Server:
    """Takes events, starts handlers, says what came of them."""

    def __init__(self, wire, host):
        self.wire = wire
        self.host = host
        self.tasks = set()

    def take(self, event):
        if "answer" in event:
            future = self.host.waiting.get(event["answer"])
            if future is not None and not future.done():
                future.set_result(event)
            return
        task = asyncio.get_running_loop().create_task(self.run(event))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def run(self, event):
        done = {"done": event["id"]}
        try:
            found = resolve(event["target"])
            result = found(*event["args"])
            if inspect.isawaitable(result):
                result = await result
            done["value"] = plain(result)
        except (KeyboardInterrupt, SystemExit) as stopped:
            done["raised"] = type(stopped).__name__
        except BaseException as raised:  # noqa: BLE001 - whatever an agent's code raises
            done["raised"] = type(raised).__name__
            done["message"] = str(raised)[:500]
            done["trace"] = trace(raised)
        if len(json.dumps(done)) > MAX_OUT:
            done = {"done": event["id"], "raised": "AnswerTooLarge", "message": "", "trace": []}
        self.wire.out.append(done)


def resolve(target):
    """``module:name.of.attribute`` of the tree."""
    module, _, names = target.partition(":")
    found = importlib.import_module(module)
    for name in names.split("."):
        found = getattr(found, name)
    return found


def trace(raised):
    """Frames of the tree, innermost last: file, line, function, the line's text."""
    frames = traceback.extract_tb(raised.__traceback__)
    return [
        {"file": one.filename, "line": one.lineno, "in": one.name, "text": one.line or ""}
        for one in frames
        if not one.filename.startswith(("inside.py", "<", "/"))
    ][-12:]


def serve(request, data_in, data_out):
    """Load the tree of ``request`` and answer frames until the pipe closes."""
    wire = Wire(data_in, data_out)
    host = Host(wire, request["environment"], request["epoch"])
    module = types.ModuleType("host", "The platform, as the services see it.")
    module.call, module.tell, module.log = host.call, host.tell, host.log
    module.setting, module.now, module.HostError = host.setting, host.now, HostError
    sys.modules["host"] = module
    sys.meta_path.insert(0, Finder(request["files"]))
    random.seed(request["seed"])
    time.time, time.monotonic = host.now, lambda: wire.now
    time.perf_counter, time.sleep = (lambda: wire.now), no_sleep
    loop = Loop(wire)
    wire.loop = loop
    asyncio.set_event_loop(loop)
    loop.set_exception_handler(lambda *_: None)
    server = Server(wire, host)
    wire.take = server.take
    for name in request["modules"]:
        try:
            importlib.import_module(name)
        except BaseException as raised:  # noqa: BLE001 - whatever an agent's code raises
            wire.out.append(
                {"broken": name, "raised": type(raised).__name__, "message": str(raised)[:500],
                 "trace": trace(raised)}
            )  # fmt: skip
    loop.run_forever()


def no_sleep(seconds):
    raise RuntimeError("a service must not block the loop: await asyncio.sleep instead")

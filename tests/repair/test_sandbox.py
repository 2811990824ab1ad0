"""The jail: what code in it cannot reach, how it ends, and what it cannot forge."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Literal

import pytest

from heldout.repair.sandbox import runner
from heldout.repair.sandbox.runner import CandidateBroke, Limits, Program, Sandbox

source = runner._source


def run(sandbox: Sandbox, code: str, *arguments: object) -> dict[str, object]:
    """Load ``code``, call its function ``go`` and return what came of it."""
    first = sandbox.start(Program({"code.py": code}, ["code"]))
    for one in first["out"]:
        if "broken" in one:
            return dict(one)
    frame = sandbox.exchange(0.0, [{"id": 1, "target": "code:go", "args": list(arguments)}])
    return next(dict(one) for one in frame["out"] if one.get("done") == 1)


def jailed(sandbox: Sandbox) -> None:
    """Skip where this machine gives no namespaces."""
    sandbox.start(Program({"code.py": ""}, ["code"]))
    if sandbox.tier != "jail":
        pytest.skip("no user namespaces on this machine: the tier is 'limits'")


def test_code_runs_on_a_clock_of_the_other_side(sandbox: Sandbox):
    """A sleep ends when this side says that its time has come, and waits for nothing real."""
    code = "import asyncio, time\nasync def go():\n    await asyncio.sleep(3600)\n    return time.time()"
    sandbox.start(Program({"code.py": code}, ["code"], epoch=1000.0))
    frame = sandbox.exchange(0.0, [{"id": 1, "target": "code:go", "args": []}])
    assert frame == {"out": [], "until": 3600.0}
    assert sandbox.exchange(3600.0, [])["out"] == [{"done": 1, "value": 4600.0}]


@pytest.mark.parametrize(
    "attempt",
    [
        "open('/etc/passwd').read()",
        f"open({str(Path(__file__).resolve())!r}).read()",
        "__import__('os').listdir('/proc')",
        "__import__('os').environ['PATH']",
        "open('/made', 'w')",
        "__import__('os').mkdir('/made')",
        "__import__('os').chroot('/')",
        "__import__('os').kill(2, 9)",
        "__import__('subprocess').run(['/bin/true'])",
        "__import__('ctypes').CDLL(None).unshare(0x10000000) == 0 or 1 / 0",
        "__import__('ctypes').CDLL(None).mount(b'none', b'/', b'proc', 0, None) == 0 or 1 / 0",
        "bytearray(3 << 30)",
    ],
)
def test_nothing_outside_can_be_reached(sandbox: Sandbox, attempt: str):
    """Files, processes, environment, mounts, programs and memory beyond the limit are not there."""
    jailed(sandbox)
    assert "raised" in run(sandbox, f"def go():\n    return bool({attempt})")


def test_a_run_is_alone(sandbox: Sandbox):
    """It is process 1 of its own namespace."""
    jailed(sandbox)
    assert run(sandbox, "import os\ndef go():\n    return os.getpid()")["value"] == 1


@pytest.mark.parametrize(
    "attempt",
    [
        "__import__('os').fork()",
        "__import__('_thread').start_new_thread(print, ())",
        "__import__('os').execv('/proc/self/exe', ['x'])",
        "__import__('_socket').socket()",
    ],
)
@pytest.mark.parametrize("tier", ["jail", "limits"])
def test_a_run_starts_nothing(attempt: str, tier: Literal["jail", "limits"]):
    """No process, thread, program or socket, in either tier: the kernel refuses the call."""
    with Sandbox(tier=tier) as sandbox:
        outcome = run(sandbox, f"def go():\n    {attempt}")
        assert outcome["raised"] in ("PermissionError", "RuntimeError", "error")


def test_without_the_filter_a_run_forks(monkeypatch: pytest.MonkeyPatch):
    """The control of the test above: with the filter taken out the same call goes through."""

    def open_source(name: str) -> str:
        return source(name).replace("    forbid()\n    own", "    own")

    monkeypatch.setattr(runner, "_source", open_source)
    code = "import os\ndef go():\n    if os.fork() == 0:\n        os._exit(0)\n    return 'forked'"
    with Sandbox() as sandbox:
        assert run(sandbox, code)["value"] == "forked"


PIPE = "import asyncio, os\nasync def go():\n    out = asyncio.get_running_loop().wire.fds[1]\n    "


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import os\ndef go():\n    os._exit(0)", "ended"),
        ("def go():\n    while True:\n        pass", "hung"),
        (PIPE + "os.write(out, b'\\xff' * 4)", "protocol"),
        (PIPE + "os.write(out, b'\\x02\\x00\\x00\\x00[]')", "protocol"),
        (PIPE + "os.write(out, b'\\x02\\x00\\x00\\x00{{')", "protocol"),
        (PIPE + "os.write(out, b'\\x0a\\x00\\x00\\x00' + b'{\"out\": 3}')", "protocol"),
        (PIPE + "os.close(out)", "ended"),
        (PIPE + "asyncio.get_running_loop().stop()", "ended"),
    ],
)
def test_a_run_that_breaks_is_its_own_failure(code: str, reason: str):
    """Ending, hanging and speaking no frames are the candidate's; the sandbox goes on."""
    with Sandbox(limits=Limits(wall_seconds=4, cpu_seconds=3)) as sandbox:
        with pytest.raises(CandidateBroke) as broke:
            run(sandbox, code)
        assert broke.value.reason in (reason, "ended")
        assert run(sandbox, "def go():\n    return 5")["value"] == 5


def test_what_is_not_plain_is_no_answer(sandbox: Sandbox):
    """An object that equals everything, a subclass of int and a cycle are refused as answers."""
    head = "class Any(int):\n    def __eq__(self, other): return True\n"
    assert run(sandbox, f"{head}def go():\n    return Any(3)")["raised"] == "TypeError"
    assert run(sandbox, f"{head}def go():\n    return [Any(3)]")["raised"] == "TypeError"
    cycle = "def go():\n    a = []\n    a.append(a)\n    return a"
    assert run(sandbox, cycle)["raised"] == "TypeError"
    with pytest.raises(CandidateBroke):
        run(sandbox, "def go():\n    return float('nan')")


def test_a_module_that_fails_to_load_is_told(sandbox: Sandbox):
    """An import error, an exit at import and a library that is not there are reported as such."""
    assert run(sandbox, "1 / 0")["raised"] == "ZeroDivisionError"
    assert run(sandbox, "raise SystemExit(0)")["raised"] == "SystemExit"
    assert run(sandbox, "import pytest")["raised"] == "ModuleNotFoundError"


def test_the_weaker_tier_says_so():
    """Without namespaces code still runs, and the tier is not called a jail."""
    with Sandbox(tier="limits") as sandbox:
        assert run(sandbox, "def go():\n    return 1")["value"] == 1
        assert sandbox.tier == "limits"
        # The control of the tests above: here the file system can be read.
        seen = run(sandbox, f"import os\ndef go():\n    return os.path.exists({os.getcwd()!r})")
        assert seen["value"] is True


def test_the_same_code_answers_the_same_twice(sandbox: Sandbox):
    """Seeded random numbers, hashes and sets do not differ between two runs."""
    code = (
        "import random\ndef go():\n    return [random.random(), hash('x'), list({'b', 'a', 'c'})]"
    )
    assert run(sandbox, code) == run(sandbox, code)


def _in_a_thread_that_ends(work: Callable[[], object]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_a_jail_outlives_the_thread_that_began_it(sandbox: Sandbox):
    """A server's threads come and go; a session goes on in another one."""
    program = Program({"m.py": "x = 1\n"}, ["m"])
    _in_a_thread_that_ends(lambda: (sandbox.start(program), sandbox.stop()))
    time.sleep(0.3)
    assert isinstance(sandbox.start(program), dict)


def test_a_jail_started_by_a_passing_thread_is_gone_with_it(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
):
    """The control: started by the caller's own thread it dies, and that is no wrong repair."""

    class Here:
        """Runs at once, in the caller's thread."""

        def submit(self, work: Callable[..., object], *args: object) -> Future[object]:
            """What came of it, as from a pool."""
            done: Future[object] = Future()
            done.set_result(work(*args))
            return done

    monkeypatch.setattr(runner, "_parent", Here)
    program = Program({"m.py": "x = 1\n"}, ["m"])
    _in_a_thread_that_ends(lambda: (sandbox.start(program), sandbox.stop()))
    time.sleep(0.3)
    with pytest.raises((runner.SandboxError, CandidateBroke)):
        sandbox.start(program)

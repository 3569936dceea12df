"""Signals that are deferred, errors and notes as they are told, children that end, and memory by control groups."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import pytest

import raystream
from raystream.base import interrupts, memory
from raystream.base.errors import DeviceError, ViewerError, ViewerWarning, warn
from raystream.base.interrupts import (
    EXIT_SIGNALS,
    UNWAITED,
    Terminated,
    child_process,
    exit_now,
    interrupts_deferred,
    raise_dropped,
    suppress_interrupt,
    terminate,
)
from tests.signals import ctrl_c, gone, starts


@pytest.fixture
def came() -> Any:
    """Numbers that handlers of both signals were called with."""
    found: list[int] = []
    before = {number: signal.signal(number, lambda number, frame: found.append(number)) for number in EXIT_SIGNALS}
    yield found
    for number, handler in before.items():
        signal.signal(number, handler)


def test_interrupts_wait_for_the_end_of_the_block(came: list[int]) -> None:
    """The first one is raised then; handlers are back."""
    mine = [signal.getsignal(number) for number in EXIT_SIGNALS]
    with interrupts_deferred():
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGTERM):
            os.kill(os.getpid(), number)
        assert came == []
    assert came == [signal.SIGTERM] and [signal.getsignal(number) for number in EXIT_SIGNALS] == mine
    with interrupts_deferred():
        pass
    assert came == [signal.SIGTERM]


def test_an_exception_in_the_block_comes_first(came: list[int]) -> None:
    with pytest.raises(OSError, match="mine"), interrupts_deferred():
        os.kill(os.getpid(), signal.SIGINT)
        raise OSError("mine")
    assert came == [signal.SIGINT]


def test_what_was_dropped_is_raised_once_more() -> None:
    raise_dropped()  # nothing was
    with pytest.raises(Terminated) as first:
        terminate(15, None)
    assert first.value.code == 143 and isinstance(first.value, KeyboardInterrupt)
    with pytest.raises(Terminated) as second:
        raise_dropped()
    assert second.value is first.value and Terminated.last is None
    raise_dropped()
    assert Terminated(1).code == 129


def test_a_thread_that_nobody_waits_for_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[int] = []
    monkeypatch.setattr(interrupts, "exit_process", left.append)
    exit_now(3)
    assert left == []

    class Stream(io.StringIO):
        def flush(self) -> None:
            left.append(-1)
            raise ValueError("closed")

    monkeypatch.setattr(sys, "stdout", Stream())
    monkeypatch.setattr(sys, "stderr", None)
    end = threading.Event()
    thread = threading.Thread(target=end.wait, name=UNWAITED)
    thread.start()
    exit_now(3)
    end.set()
    thread.join()
    assert left == [-1, 3]  # what was written is written out first
    exit_now(3)
    assert left == [-1, 3]


@pytest.mark.parametrize(
    ("error", "typed", "python"),
    [
        (ViewerError("a.ply", "is broken"), "a.ply: is broken", "a.ply: is broken"),
        (ViewerError("a.ply", "is\n  broken", "mend it"), "a.ply: is broken (mend it)", "a.ply: is broken (mend it)"),
        (ViewerError("--depth 5", "bad"), "--depth 5: bad", "depth=5: bad"),
        (ViewerError("--depth '5'", "bad", "--spp 3"), "--depth '5': bad (--spp 3)", "depth='5': bad (spp=3)"),
        (ViewerError("a", "`x --fov 5`"), "a: `x --fov 5`", "a: `x --fov 5`"),
        (ViewerError("--depth", "9 surfaces"), "--depth: 9 surfaces", "depth=: 9 surfaces"),
        (ViewerError("\x1b[1m", "a\tb"), "\\x1b[1m: a b", "\\x1b[1m: a b"),
    ],
)
def test_errors_in_one_line(error: ViewerError, typed: str, python: str) -> None:
    """As typed on the command line, and as Python has it, also in a notebook."""
    import raystream.options.table  # noqa: F401  # fills in the keywords

    assert (error.typed, str(error)) == (typed, python)
    assert error._render_traceback_() == [f"ViewerError: {python}"]
    assert DeviceError("a", "b")._render_traceback_() == ["DeviceError: a: b"]


def test_long_names_and_lists_are_cut() -> None:
    name, names = "x" * 10_000, ", ".join(f"camera {number}" for number in range(100_000))
    line = str(ViewerError("scene.gltf", f"no camera '{name}'", f"cameras: {names}"))
    assert line.startswith("scene.gltf: no camera 'xxx") and "x..." in line
    assert "(cameras: camera 0, camera 1," in line and line.endswith(" ...)") and len(line) < 2500
    assert ViewerError("a", name, names).what == name
    whole = f"{'y' * 256} {'z' * 256}"
    assert str(ViewerError("a", whole)) == f"a: {whole}"


def test_notes_are_told_where_the_package_was_called() -> None:
    """At the line outside of it, each as Python has it; none of none."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warn([])
        assert not found
        warn(iter(["a note", "take --spp 4"]))
        inside: dict[str, Any] = {"__name__": "raystream.inner.part", "warn": warn}
        exec("def call(notes):\n    warn(notes)\n", inside)
        inside["call"](["from within"])
        beside: dict[str, Any] = {"__name__": "viewers", "warn": warn}
        exec("def call(notes):\n    warn(notes)\n", beside)
        beside["call"](["from another package"])
    assert [str(each.message) for each in found] == ["a note", "take spp=4", "from within", "from another package"]
    assert all(each.category is ViewerWarning for each in found)
    assert [each.filename == __file__ for each in found] == [True, True, True, False]


# -- memory --------------------------------------------------------------------------------------------------------


def written(root: Path, files: dict[str, Any]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(text))
    return root


SECOND = "sys/fs/cgroup/"  # version 2
FIRST = "sys/fs/cgroup/memory/"
MEMINFO = {"proc/meminfo": "MemTotal:  9999 kB\nMemAvailable:    1000 kB\nMemFree: 1 kB\n"}


def second(group: str, most: Any, used: Any = None, stat: str = "") -> dict[str, Any]:
    """Files of a control group of version 2, those that there are."""
    files = {"max": most, "current": used, "stat": stat}
    return {f"{SECOND}{group}memory.{name}": value for name, value in files.items() if value not in (None, "")}


def first(most: int, used: int, stat: str = "") -> dict[str, Any]:
    """A process's own of version 1, and what its group "c" has."""
    files = {"limit_in_bytes": most, "usage_in_bytes": used, "stat": stat}
    own = {"proc/self/cgroup": "3:cpu:/x\n4:cpuacct,memory:/c\n"}
    return own | {f"{FIRST}c/memory.{name}": value for name, value in files.items() if value != ""}


ROOT, INNER = {"proc/self/cgroup": "0::/\n"}, {"proc/self/cgroup": "0::/a/b\n"}
ALL = 1_024_000  # what MEMINFO tells


@pytest.mark.parametrize(
    ("files", "left"),
    [
        ({}, ALL),
        (ROOT | second("", "max", 5), ALL),
        (ROOT | second("", 5000, 2000), 3000),
        (ROOT | second("", 5000, 6000), 0),
        (INNER | second("a/b/", 5000, 2000, "anon 1\ninactive_file 700\nactive_file 9\n"), 3700),
        (INNER | second("a/b/", 5000, 2000) | second("a/", 4000, 2500), 1500),
        (first(8000, 3000, "inactive_file 1\ntotal_inactive_file 20\n") | second("x/", 1, 0), 5020),
        (first(1 << 60, (1 << 60) - 1), ALL),
        (first((1 << 60) - 1, (1 << 60) - 8), 7),
    ],
)
def test_memory_by_control_groups(files: dict, left: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of this process's group and those above it, the least; never beyond the machine's."""
    monkeypatch.setattr(memory, "_address_space_limits", lambda: iter(()))
    assert memory.available(written(tmp_path, {**MEMINFO, **files})) == left


signals = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals between processes")
ENDLESS = [sys.executable, "-c", "import time; time.sleep(1000)"]


@signals
def test_a_child_ends_with_its_block() -> None:
    with starts() as made:
        with child_process(ENDLESS, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            assert child.poll() is None and child.stdin is not None and child.stdout is not None
            child.stdin.write(b"never read")
        assert made == [child] and gone(child) and child.returncode == -signal.SIGKILL
        assert child.stdin.closed and child.stdout.closed
        with child_process([sys.executable, "-c", "raise SystemExit(3)"]) as child:
            assert child.wait() == 3
        with pytest.raises(FileNotFoundError), child_process(["no such program"]):
            raise AssertionError


@signals
def test_ctrl_c_while_a_child_starts() -> None:
    with starts(ctrl_c) as made:
        with pytest.raises(KeyboardInterrupt), child_process(ENDLESS):
            raise AssertionError
        assert len(made) == 1 and gone(made[0])


@signals
def test_a_second_ctrl_c_while_a_child_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    kill = subprocess.Popen.kill

    def killed(self: subprocess.Popen[bytes]) -> None:
        ctrl_c()
        kill(self)

    with starts() as made:
        with monkeypatch.context() as patch:
            patch.setattr(subprocess.Popen, "kill", killed)
            with pytest.raises(KeyboardInterrupt), child_process(ENDLESS):
                raise KeyboardInterrupt
        assert len(made) == 1 and gone(made[0])


class Dropping:
    """Is interrupted while it is finalized: Python drops what that raises."""

    def __del__(self) -> None:
        terminate(2, None)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_render_ends_after_an_interrupt_that_a_finalizer_drops(device: Any) -> None:
    """The loop that fills a film asks for dropped ones."""
    renderer = raystream.Renderer("cornell", program="cast", device=device)
    Dropping()
    with pytest.raises(Terminated) as stop:
        renderer.render((8, 8))
    assert stop.value.code == 130 and Terminated.last is None
    assert renderer.render((8, 8)).linear.shape == (8, 8, 3)
    with suppress_interrupt():
        terminate(2, None)
    assert Terminated.last is None

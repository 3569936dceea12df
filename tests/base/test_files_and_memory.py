"""Part files, text files and memory on systems that lack something; and a lock that is waited for in vain."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

from raystream.base import memory, part_file
from raystream.base.errors import ViewerError
from raystream.film.files import image
from raystream.stream.lock import FairLock


def test_parts_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows: each has a name of its own, nobody's is taken for dead."""
    monkeypatch.setattr(part_file, "fcntl", None)
    target = tmp_path / "a.txt"
    left = part_file.begin(target)
    part_file.write(str(target), "text")
    assert target.read_text() == "text\n"
    assert sorted(os.listdir(tmp_path)) == sorted([left.path.name, "a.txt"])
    left.end()
    left.end()  # once more does no harm
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.skipif(part_file.fcntl is None or not os.path.isdir("/proc/self/fd"), reason="by Linux's files")
def test_writers_of_one_file_at_once(tmp_path: Path) -> None:
    """Eight have names that the next writer looks at; all give back what they opened, and leave nothing."""
    opened = len(os.listdir("/proc/self/fd"))
    parts = [part_file.begin(tmp_path / "a.png") for _ in range(10)]
    names = [part.path.name for part in parts]
    assert names[:8] == [part_file._name(tmp_path / "a.png", str(number)).name for number in range(8)]
    assert len(set(names)) == 10 and sorted(os.listdir(tmp_path)) == sorted(names)
    assert all(len(name) == len(names[0]) + 11 for name in names[8:])  # of 12 random digits in place of one
    assert (parts[0].path.stat().st_mode & 0o777) == 0o666 & ~current_mask()
    parts[3].path.rename(tmp_path / "a.png")
    for part in parts:
        part.end()
    assert os.listdir(tmp_path) == ["a.png"] and len(os.listdir("/proc/self/fd")) == opened
    again = part_file.begin(tmp_path / "a.png")
    assert again.path.name == names[0]
    again.path.unlink()
    again.path.touch()  # somebody else's by now
    again.end()
    assert sorted(os.listdir(tmp_path)) == sorted(["a.png", names[0]])
    assert part_file.begin(tmp_path / "a.png").path.name == names[0]  # nobody holds it: it was dead


def current_mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_where_a_text_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder").mkdir()
    for path, words in (("folder", "is a folder"), ("none/a.toml", "there is no folder .*none")):
        with pytest.raises(ViewerError, match=words):
            part_file.check_path(str(tmp_path / path))
    with pytest.raises(ViewerError, match="cannot be written: No such file or directory"):
        part_file.write(str(tmp_path / "none/a.toml"), "text")
    (tmp_path / "a.toml").write_text("old\n")

    def full(self: Path, text: str, encoding: str) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        with pytest.raises(ViewerError, match="No space left on device"):
            part_file.write(str(tmp_path / "a.toml"), "text")
    assert sorted(os.listdir(tmp_path)) == ["a.toml", "folder"] and (tmp_path / "a.toml").read_text() == "old\n"
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(ViewerError, match=r"permission denied \(choose another folder\)"):
        part_file.check_path(str(tmp_path / "a.toml"))
    with pytest.raises(ViewerError, match=r"permission denied \(choose another file\)"):
        part_file.check_path(os.devnull)
    assert not part_file.is_stream("a\0b") and part_file.is_stream(os.devnull)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers of signals")
def test_who_is_stopped_while_waiting_gives_up_the_turn() -> None:
    """By Ctrl-C: the lock is free for others in the end."""
    lock, taken, let = FairLock(), threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            taken.set()
            let.wait()

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    holder = threading.Thread(target=hold, daemon=True)
    holder.start()
    taken.wait()
    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt), lock:
            pytest.fail("it was held by another")
    finally:
        signal.signal(signal.SIGALRM, before)
    let.set()
    holder.join()
    assert not lock._waiting and lock._holder is None
    with lock:
        assert lock._holder == threading.get_ident()


@pytest.mark.parametrize("on", [True, False])
def test_garbage_is_not_collected_meanwhile_and_then_as_before(on: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if on else gc.disable)()
        with memory.uncollected():
            assert not gc.isenabled()
        assert gc.isenabled() is on
        with pytest.raises(ZeroDivisionError), memory.uncollected():
            raise ZeroDivisionError
        assert gc.isenabled() is on
    finally:
        (gc.enable if before else gc.disable)()


class _Ring:
    """Refers to itself: a search for cycles alone frees it."""

    def __init__(self) -> None:
        self.ring = self


def test_very_many_objects_that_came_meanwhile_are_old_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next search for garbage would go through all of them; a full one still frees those that are."""
    monkeypatch.setattr(memory, "MIN_FROZEN_OBJECTS", 5000)
    searched: list[int] = []

    def note(phase: str, facts: dict[str, int]) -> None:
        if phase == "start" and not facts["generation"]:
            searched.append(len(gc.get_objects(generation=0)))

    before = gc.isenabled()
    gc.collect()
    gc.enable()
    try:
        with memory.uncollected():
            stay = [[k] for k in range(20_000)]
            ring = weakref.ref(_Ring())
        gc.callbacks.append(note)
        later = [[k] for k in range(4 * gc.get_threshold()[0])]
        gc.callbacks.remove(note)
        assert searched and max(searched) < 5000 < len(stay) and later
        assert ring() is not None
        gc.collect()
        assert ring() is None
    finally:
        (gc.enable if before else gc.disable)()


def test_what_is_frozen_stays_so_while_few_objects_come() -> None:
    """The modules of a command are: searches leave them out."""
    gc.freeze()
    try:
        before = gc.get_freeze_count()
        with memory.uncollected():
            stay = [[] for _ in range(100)]
        assert gc.get_freeze_count() >= before - 100 > 0 and stay
    finally:
        gc.unfreeze()


WRITER = """
import os, sys
from pathlib import Path
from raystream.base import part_file
for name in sys.argv[1:]:
    part = part_file.begin(Path(name))
    part.path.write_bytes(b"half")
    globals()[name] = part
print("begun", flush=True)
sys.stdin.readline()
os.kill(os.getpid(), 9)
"""


def writer(*targets: Path) -> subprocess.Popen[str]:
    """A process with an unfinished file for each target, which is killed at the first line that it is given."""
    child = subprocess.Popen(
        [sys.executable, "-c", WRITER, *map(str, targets)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None and child.stdout.readline() == "begun\n"
    return child


@pytest.mark.skipif(part_file.fcntl is None, reason="files are locked by fcntl")
def test_what_dead_writers_left_is_removed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the same file; not what another one writes, or somebody else, nor where files cannot be locked."""
    target, other = tmp_path / "a.txt", tmp_path / "b.txt"
    foreign = tmp_path / ".raystream-0123456789ab.part"
    foreign.write_bytes(b"of another program")
    dead, alive = writer(target, other), writer(target)
    dead.communicate("die\n")

    def refuse(*_: object) -> None:
        raise OSError("no locks here")

    for locks, left in ((refuse, 4), (part_file.fcntl.flock, 3)):
        monkeypatch.setattr(part_file.fcntl, "flock", locks)
        part_file.write(str(target), "text")
        assert len(list(tmp_path.glob("*.part"))) == left and foreign.exists()
    alive.communicate("die\n")
    part_file.write(str(target), "text")
    part_file.write(str(other), "text")
    assert [*tmp_path.glob("*.part")] == [foreign]


PICTURE = np.ones((2, 3, 3), np.float32)


def parts(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if name.endswith(".part"))


def test_a_living_writer_keeps_its_part_whoever_else_writes(tmp_path: Path) -> None:
    target = tmp_path / "a.png"
    first, second = part_file.begin(target), part_file.begin(target)  # as two threads
    first.path.write_bytes(b"first")
    image.save(target, PICTURE)
    assert parts(tmp_path) == sorted([first.path.name, second.path.name]) and first.path.read_bytes() == b"first"
    os.replace(first.path, target)
    third = part_file.begin(target)
    assert third.path == first.path  # the name is free
    first.end()
    assert third.path.exists() and target.read_bytes() == b"first"
    second.end()
    third.end()
    assert os.listdir(tmp_path) == ["a.png"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="/dev/full is Linux's")
def test_a_device_that_takes_nothing() -> None:
    with pytest.raises(ViewerError, match="/dev/full: cannot be written: No space left on device"):
        part_file.write("/dev/full", "text")

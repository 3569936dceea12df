"""Compiled loops: kept as object files that need nothing of numba, made anew where something differs."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import numpy as np
import pytest

from raystream.base import cache_folder, jit, jit_cache

FACTOR = 3


@jit.helper
def _scaled(value):
    return value * FACTOR


def _loop(rows, count, flag, offset, out):
    total = 0.0
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            total += _scaled(rows[row, column]) + offset
    out[0] = count
    return total, len(out), flag


def _nothing(out):
    out[0] = 7


def _allocates(count):
    return len(np.ones(count))


def _raises(count):
    if count > 2:
        raise ValueError
    return count


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(cache_folder.FOLDER, str(tmp_path / "loops"))
    monkeypatch.setattr(jit, "_loaded", {})
    return tmp_path / "loops"


def test_numbers_and_arrays_come_and_go(folder):
    rows = np.arange(6, dtype=np.float32).reshape(2, 3)
    rows.setflags(write=False)
    for small in (True, False):
        out = np.zeros(2, np.int64)
        found = jit.run(_loop, rows, 2**40, True, 0.5, out, small=small)
        assert found == (48.0, 2, True) and [type(each) for each in found] == [float, int, bool]
        assert out[0] == 2**40
    assert jit.run(_loop, rows, np.int64(3), np.False_, np.float32(0.5), np.zeros(2, np.int64)) == (48.0, 2, False)
    assert [path.name.startswith("_loop_") for path in folder.iterdir()] == [True]


def _adds(values, out):
    for k in range(len(values)):
        out[k] += values[k]
    return out[0]


def test_a_bound_loop_reads_and_writes_its_arrays_as_they_are():
    values, out = np.arange(1.0, 4.0), np.zeros(3)
    add = jit.bind(_adds, values, out)
    assert add() == 1.0
    values[:] = 10.0
    assert add() == 11.0 and out.tolist() == [11.0, 12.0, 13.0]
    other = np.zeros(3)
    assert jit.bind(_adds, values, other)() == 10.0 and add() == 21.0  # each its own arrays and results
    kept = jit.bind(_adds, np.ones(3), np.full(3, 5.0))  # nobody else holds them
    assert [kept() for _ in range(3)] == [6.0, 7.0, 8.0]
    with pytest.raises(TypeError, match="C-contiguous"):
        jit.bind(_adds, np.zeros((3, 2)).T, out)


def test_object_files_are_used_again_and_damaged_ones_made_anew(folder, monkeypatch):
    out = np.zeros(1, np.int16)
    jit.run(_nothing, out)
    (path,) = folder.iterdir()
    made = path.read_bytes()

    def refuse(*arguments):
        raise AssertionError("compiled again")

    from raystream.base import jit_compile

    monkeypatch.setattr(jit_compile, "compiled", refuse)
    monkeypatch.setattr(jit, "_loaded", {})
    jit.run(_nothing, out)
    monkeypatch.undo()
    monkeypatch.setenv(cache_folder.FOLDER, str(folder))
    for damaged in (made[:-9], made[:200], b"", made[:-1] + b"?"):
        path.write_bytes(damaged)
        assert jit_cache.find(path.stem) is None
    monkeypatch.setattr(jit, "_loaded", {})
    jit.run(_nothing, np.zeros(1, np.int16))
    assert jit_cache.find(path.stem) is not None


def test_a_folder_that_cannot_be_written_is_done_without(folder):
    folder.write_text("a file in its place")
    out = np.zeros(1, np.int32)
    jit.run(_nothing, out)
    assert out[0] == 7


def test_what_a_loop_depends_on_tells_it_apart(monkeypatch):
    def content():
        return repr(list(jit._dependencies(_loop, set())))

    before = content()
    assert content() == before
    monkeypatch.setitem(globals(), "FACTOR", 4)
    assert content() != before
    monkeypatch.undo()
    monkeypatch.setattr(_scaled, "__code__", (lambda value: value + FACTOR).__code__)
    assert content() != before


@pytest.mark.parametrize("loop", [_allocates, _raises])
def test_a_loop_that_needs_numba_runs_and_is_not_kept(loop, folder):
    with pytest.warns(RuntimeWarning, match=r"allocates or raises"):
        assert jit.run(loop, 2) == 2
    assert not folder.exists()


def test_arrays_with_gaps_are_refused():
    with pytest.raises(TypeError, match="C-contiguous"):
        jit.run(_nothing, np.zeros(6)[::2])


def test_a_second_process_needs_no_numba(folder):
    code = (
        "import sys, numpy as np; from raystream.accel.bvh_build import fill_octant_links\n"
        "from raystream.base.jit import run\n"
        "links = np.empty((8, 3, 2), np.int32)\n"
        "run(fill_octant_links, np.array([2, -1, -1], np.int32), np.zeros(3, np.int8), links)\n"
        "print(links[:, 0, 0].tolist(), 'numba' in sys.modules)"
    )
    environment = {**os.environ, cache_folder.FOLDER: str(folder)}
    for first in (True, False):
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=600
        )
        assert done.stdout.split("\n")[0] == f"[1, 2, 1, 2, 1, 2, 1, 2] {first}"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="temporary folders are the user's own there")
def test_without_a_home(tmp_path, monkeypatch):
    """Kept among the temporary files, in a folder that nobody else may write."""
    monkeypatch.delenv(cache_folder.FOLDER)
    (tmp_path / "home").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home" / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    own = tmp_path / f"raystream-{os.getuid()}"
    made = jit_cache.Object("f", b"code")
    jit_cache.keep("loop", made)
    assert jit_cache.find("loop") == made and own.stat().st_mode & 0o777 == 0o700
    own.chmod(0o770)  # others may have written it
    assert jit_cache.find("loop") is None and own not in jit_cache.folders()
    own.chmod(0o700)
    own.rename(tmp_path / "elsewhere")
    own.symlink_to(tmp_path / "elsewhere")
    assert jit_cache.find("loop") is None
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert jit_cache.folders() == [tmp_path / "cache" / "raystream" / "loops"]

"""A child that was forked from a process with a renderer hung in its first OpenGL call."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
SCRIPT = """
import multiprocessing, os, pickle, signal, sys
import numpy as np
import raystream

SIZE = (8, 8)
signal.alarm(120)  # ends what hangs
triangle = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
scene = raystream.Scene.from_triangles(triangle, [[0, 1, 2]])


def render(renderer=None):
    renderer = renderer or raystream.Renderer(scene, program="cast")
    return renderer.render(SIZE, spp=1).linear


def child(work):
    '''What the work says in a forked child, which is to end by itself.'''
    pid = os.fork()
    if not pid:
        signal.alarm(60)
        try:
            work()
        except raystream.ViewerError as error:
            print(error, flush=True)
        else:
            print("rendered", flush=True)
        sys.exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7


child(render)  # before the first renderer of this process: its own is good
renderer = raystream.Renderer(scene, program="cast")
first = render(renderer)
child(lambda: render(renderer))
child(lambda: renderer.update(depth=2))
child(lambda: renderer.trace([[0, 0, 1]], [[0, 0, -1]]))
child(render)
with renderer.lock:  # a thread of the parent's may hold it
    child(lambda: renderer.release())
with multiprocessing.get_context("fork").Pool(1) as pool:
    try:
        pool.apply(render)
    except raystream.ViewerError as error:
        print(error)
print(np.array_equal(render(renderer), first))
"""


def test_a_forked_child_gets_a_clear_line_and_the_parent_goes_on(device) -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first, *refused, whole = done.stdout.splitlines()
    assert first == "rendered" and whole == "True"
    line = (
        "OpenGL: this process was forked from one that had opened it, which drivers do not survive (start processes by "
        "spawn: multiprocessing.get_context('spawn'); or fork before the first Renderer)"
    )
    assert refused == [line] * 6

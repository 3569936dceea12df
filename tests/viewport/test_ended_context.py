"""A view whose OpenGL context another library has ended, as VTK does: it goes on in another one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ENDED = """
import ctypes, time
from pathlib import Path
import numpy as np
from raystream.viewport.canvas import CanvasView
from raystream.viewport.preferences import Preferences

view = CanvasView("cornell", (24, 16), preferences=Preferences(path=Path("none")), program="cast", exposure=0.5)


def rest():
    while not view.idle:
        view.advance()
        time.sleep(0.005)


rest()
egl = ctypes.CDLL("libEGL.so.1")
egl.eglGetCurrentDisplay.restype = ctypes.c_void_p
with view.device.current():
    display = ctypes.c_void_p(egl.eglGetCurrentDisplay())


def end():  # as vtkEGLRenderWindow does
    numbers = ctypes.c_int(), ctypes.c_int()
    assert egl.eglTerminate(display) and egl.eglInitialize(display, *map(ctypes.byref, numbers))


view.update(camera="278,300,-700 278,273,0", mode="fly")
rest()
before, camera, device = view.read(), view.view.controller.camera, view.device
end()
assert np.array_equal(view.snapshot().srgb8(0.5, view.view.tone.tonemap).shape, (16, 24, 3))
rest()
assert view.device is not device and view.view.controller.camera == camera and view.view.controller.mode == "fly"
assert np.array_equal(view.read(), before)
end()
view.handle({"event_type": "key_down", "key": "Home"})
rest()
view.update(fov=20)
rest()
assert not np.array_equal(view.read(), before)
end()
view.release()
print("done")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="libraries share EGL on Linux")
def test_it_goes_on(device: object) -> None:
    place = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", ENDED], cwd=place, capture_output=True, text=True)
    assert done.stdout == "done\n", done.stderr

"""Memory of a view in which scenes are opened in turn, as by its dialog: built-in ones, and those of the scene data.

Each is looked at until its picture rests; then the process's resident memory is read, and what the C library has lent
out of it and holds free. What stays of a scene that has been replaced shows in the next rounds.
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.common import Options, Result, Table, facts, say
from benchmarks.scenes import shared
from raystream.base.errors import ViewerError
from raystream.viewport.canvas import CanvasView
from raystream.viewport.preferences import Preferences

ABOUT = "memory of a view in which scenes are opened in turn"

SIZE = (240, 160)
SAMPLES = 2
SWITCHES = 60
BUILTIN = ("cornell", "hall", "teapotahedron")
FILES = ("bunny.ply", "teapot.obj", *(f"models/{name}.glb" for name in ("CesiumMilkTruck", "DamagedHelmet", "Duck")))
FILES += ("models/TransmissionTest.glb", "models/BoxTextured.glb")


class _Heap(ctypes.Structure):
    """``struct mallinfo2`` of glibc (2.33 and later)."""

    _names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = [(name, ctypes.c_size_t) for name in _names.split()]  # as ctypes wants it


def run(options: Options) -> Result:
    """Open every scene, round by round."""
    if not sys.platform.startswith("linux"):
        raise ViewerError("switches", "memory is read from Linux's /proc")
    paths = {name: shared() / "scenes" / name for name in FILES}
    missing = [f"{path}: not found" for path in paths.values() if not path.is_file()]
    scenes = [*BUILTIN, *(str(path) for path in paths.values() if path.is_file())]
    scenes, count = (list(BUILTIN[::2]), 4) if options.quick else (scenes, SWITCHES)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="raystream-bench-") as folder:
        chosen = Preferences(path=Path(folder) / "settings.toml")
        view = CanvasView(scenes[0], SIZE, preferences=chosen, spp=SAMPLES, device=options.device)
        for number in range(count):
            scene = scenes[number % len(scenes)]
            if number:
                with view.device.current():
                    view.scene_loader.open(scene)
            _rest(view)
            rows.append({"scene": Path(scene).name, **_memory()})
            say(f"{number + 1}: {rows[-1]['scene']}, {rows[-1]['resident'] / 2**20:.0f} MiB")
        found = facts(view.device)
        view.release()
    data = {
        "facts": found,
        "size": SIZE,
        "samples": SAMPLES,
        "scenes": len(scenes),
        "missing": [] if options.quick else missing,
        "rows": rows,
    }
    return Result(data, [_table(data)])


def _rest(view: CanvasView) -> None:
    """Until the picture stays as it is."""
    while not view.idle:
        view.advance()
        time.sleep(min(view.wait_timeout, 0.01))


def _memory() -> dict[str, int]:
    """Bytes of this process: resident; of the C library's heap lent out, and free."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    made = {"resident": pages * os.sysconf("SC_PAGE_SIZE")}
    ask = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if ask is not None:
        ask.restype = _Heap
        heap = ask()
        made |= {"lent": heap.uordblks + heap.hblkhd, "free": heap.fordblks}
    return made


def _table(data: dict[str, Any]) -> Table:
    """By scene: its memory in every round."""
    rows, scenes = data["rows"], data["scenes"]
    rounds = -(-len(rows) // scenes)
    lines = []
    for first in range(min(scenes, len(rows))):
        own = [row["resident"] / 2**20 for row in rows[first::scenes]]
        lines.append((rows[first]["scene"], *own, *[None] * (rounds - len(own))))
    columns = ("scene, resident MiB", *(f"round {number + 1}" for number in range(rounds)))
    width, height = data["size"]
    return Table("scenes in turn", columns, lines, f"{width} x {height}, {data['samples']} samples a pixel.")

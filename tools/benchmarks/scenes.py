"""Benchmark scenes, each with its camera."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

import raystream
from benchmarks.common import ROOT, say
from benchmarks.errors import Reference
from raystream.scene.camera import Camera
from raystream.scene.scene import Scene

SPAN = 0.8  # share of the picture covered by the larger side of a model under `facing`


class Absent(Exception):
    """A scene missing on this machine; the text has its name and a remedy."""


class View(NamedTuple):
    """A scene from one camera. source: argument of `raystream.load`; camera: or the name of one of the scene's."""

    name: str
    source: str
    camera: Camera | str


def shared() -> Path:
    """The folder of common scenes and references: ``RAYSTREAM_SHARED``, or ``shared`` beside the project."""
    return Path(os.environ.get("RAYSTREAM_SHARED", ROOT.parent / "shared"))


def required(path: Path) -> Path:
    """The path of a file. Raises Absent without it."""
    if not path.is_file():
        raise Absent(f"{path.name} not found in {path.parent} (set RAYSTREAM_SHARED to the folder of the scene data)")
    return path


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "raystream" / "bench"


def forest_flat() -> Path:
    """``forest_flat.ply``, 1.0 M triangles: from the scene data, else written by its script, once.

    Raises Absent without either.
    """
    cached = _cache() / "forest_flat.ply"
    for path in (shared() / "scenes" / "forest_flat.ply", cached):
        if path.is_file():
            return path
    script = required(shared() / "scenes" / "scripts" / "forest.py")
    say(f"writing {cached}")
    cached.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cached.parent) as folder:
        done = subprocess.run([sys.executable, str(script), folder], capture_output=True, text=True, check=False)
        written = Path(folder) / "forest_flat.ply"
        if done.returncode or not written.is_file():
            raise Absent(f"{script} failed: {done.stderr.strip()[-200:]}")
        written.replace(cached)
    return cached


def reference_camera(name: str) -> Camera:
    """The camera of a reference of primary hits."""
    data = json.loads(required(shared() / "refs" / f"{name}.json").read_text(encoding="utf-8"))["camera"]
    return Camera(tuple(data["origin"]), tuple(data["target"]), tuple(data["up"]), data["fov"], name=name)


class ReferencePicture(NamedTuple):
    """Mitsuba's picture of a scene. depth : the largest length of its paths in surface interactions. path : of the
    scene's file."""

    reference: Reference
    scene: Scene
    depth: int
    path: Path


def reference_picture(name: str) -> ReferencePicture:
    """A reference picture by its name, with its scene. Raises Absent."""
    folder = shared() / "refs"
    about = json.loads(required(folder / f"{name}.json").read_text(encoding="utf-8"))
    reference, path = Reference.load(required(folder / f"{name}.npz")), required(folder / f"{about['scene']}.glb")
    depth = about["integrator"]["max_depth"] - 1  # Mitsuba counts the edges of a path
    return ReferencePicture(reference, raystream.load(path), depth, path)


def facing(scene: Scene, fov: float = 40.0) -> Camera:
    """A camera that looks along -Z at the box's centre, so close that the larger of the projected width and height of
    all vertices spans `SPAN` of a square picture: the recipe of the bunny's reference camera."""
    points = scene.flatten().positions.astype(np.float64)
    points = points[np.isfinite(points).all(axis=1)]
    low, high = points.min(axis=0), points.max(axis=0)
    middle = (low + high) / 2
    slope = np.tan(np.radians(fov) / 2)

    def span(distance: float) -> float:
        depth = (middle[2] + distance - points[:, 2:]) * slope
        seen = (points[:, :2] - middle[:2]) / depth
        return float((seen.max(axis=0) - seen.min(axis=0)).max() / 2)

    near = high[2] - middle[2] + 1e-3 * float(np.linalg.norm(high - low))
    far = near + 100 * float(np.linalg.norm(high - low))
    for _ in range(60):
        between = (near + far) / 2
        near, far = (between, far) if span(between) > SPAN else (near, between)
    return Camera((middle[0], middle[1], middle[2] + far), tuple(middle), fov=fov, name="facing")


def view(name: str) -> View:
    """A view by its name: ``bunny``, ``dragon``, ``forest_flat``, or a built-in scene, perhaps with one of its cameras
    (``forest inside``). Raises Absent."""
    if name == "forest_flat":
        return View(name, str(forest_flat()), reference_camera("primary_forest_flat_path_512"))
    if name in ("bunny", "dragon"):
        path = str(required(shared() / "scenes" / f"{name}.ply"))
        camera = reference_camera("primary_bunny_512") if name == "bunny" else facing(raystream.load(path))
        return View(name, path, camera)
    source, _, of_scene = name.partition(" ")
    return View(name, source, of_scene or raystream.load(source).cameras[0].name)


def found(names: tuple[str, ...]) -> tuple[list[View], list[str]]:
    """The views on this machine, and a remark on each missing one."""
    views, missing = [], []
    for name in names:
        try:
            views.append(view(name))
        except Absent as error:
            missing.append(f"{name}: {error}")
    return views, missing

"""A caustic beside LuxCore's: bidirectional path tracing with vertex merging (BIDIRVMCPU) as an outside oracle.

``python tools/luxcore.py [--scene NAME] [--size N] [--seconds S] [--spp N]`` renders a scene of plain
Lambert surfaces, mirrors, glass and emitting surfaces by ``--program photon`` and by LuxCore, from the same surfaces,
and compares the means of blocks of pixels. LuxCore is not needed otherwise: ``pip install pyluxcore numpy``, into this
Python or the one that ``RAYSTREAM_PEERS_PYTHON`` names. Without it one line says so, and the exit code is 2.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.errors import DARKEST, block_means  # which need NumPy alone

ROOT = Path(__file__).resolve().parents[1]
KINDS = ("lambert", "mirror", "dielectric")
BLOCK = 8  # pixels
SEGMENTS = 256  # of triangles around a quadric's axis
LOWER = 1  # rows: LuxCore's picture is so much lower than ours, found by shifting one over the other
PHOTON_BOUNCES, DEPTH = 12, 12


class Refused(Exception):
    """What cannot be done here; one line."""


# -- LuxCore's side: runs where pyluxcore is, and imports nothing of Raystream ---------------------------------------


def luxcore_picture(arrays: Any, seconds: float) -> tuple[np.ndarray, str]:
    """(H, W, 3) float32, linear sRGB, row 0 on top; and LuxCore's version."""
    import pyluxcore

    pyluxcore.Init()
    scene, size = pyluxcore.Scene(), int(arrays["size"])
    properties = pyluxcore.Properties()

    def put(name: str, value: Any) -> None:
        properties.Set(pyluxcore.Property(name, value))

    put("scene.camera.type", "perspective")
    put("scene.camera.fieldofview", float(arrays["fov"]))  # of a square picture, either way
    for name, array in (("lookat.orig", "origin"), ("lookat.target", "target"), ("up", "up")):
        put(f"scene.camera.{name}", arrays[array].tolist())
    kinds, colors, emissions = arrays["kinds"], arrays["base_color"], arrays["emission"]
    for number, kind in enumerate(kinds):
        color: list[float] = colors[number].tolist()
        fields: dict[str, Any] = {"type": "matte", "kd": color}
        if kind == "dielectric":
            fields = {"type": "glass", "kr": color, "kt": color}
            fields |= {"interiorior": float(arrays["ior"][number]), "exteriorior": 1.0}
        elif kind == "mirror":
            fields = {"type": "mirror", "kr": color}
        if emissions[number].any():
            fields["emission"] = emissions[number].tolist()
        for name, value in fields.items():
            put(f"scene.materials.m{number}.{name}", value)
    scene.Parse(properties)
    objects = pyluxcore.Properties()
    for number in range(len(kinds)):
        corners = arrays["triangles"][arrays["materials"] == number]
        if not len(corners):
            continue
        used, faces = np.unique(corners, return_inverse=True)
        points = [tuple(map(float, row)) for row in arrays["positions"][used]]
        normals = [tuple(map(float, row)) for row in arrays["normals"][used]]
        indices = [tuple(map(int, row)) for row in faces.reshape(-1, 3)]
        scene.DefineMesh(f"mesh{number}", points, indices, normals, None, None, None)
        objects.Set(pyluxcore.Property(f"scene.objects.o{number}.shape", f"mesh{number}"))
        objects.Set(pyluxcore.Property(f"scene.objects.o{number}.material", f"m{number}"))
    scene.Parse(objects)
    settings = pyluxcore.Properties()
    chosen: dict[str, Any] = {"renderengine.type": "BIDIRVMCPU", "sampler.type": "RANDOM", "light.maxdepth": 16}
    chosen |= {"path.maxdepth": 16, "film.width": size, "film.height": size, "film.imagepipeline.0.type": "NOP"}
    chosen |= {"film.filter.type": "BOX", "film.filter.width": 0.5, "film.outputs.0.type": "RGB_IMAGEPIPELINE"}
    for name, value in {**chosen, "film.outputs.0.filename": "unused.exr"}.items():
        settings.Set(pyluxcore.Property(name, value))
    session = pyluxcore.RenderSession(pyluxcore.RenderConfig(settings, scene))
    session.Start()
    began = time.perf_counter()
    while time.perf_counter() - began < seconds:
        time.sleep(0.2)
        session.UpdateStats()
    session.Stop()
    values = np.zeros(3 * size * size, np.float32)
    session.GetFilm().GetOutputFloat(pyluxcore.FilmOutputType.RGB_IMAGEPIPELINE, values, 0)
    return values.reshape(size, size, 3)[::-1], pyluxcore.Version()


# -- Raystream's side ------------------------------------------------------------------------------------------------


def write_arrays(path: Path, scene: Any, size: int) -> None:
    """Triangles in world space, of quadrics too, materials and the camera. Raises Refused for what is not converted."""
    if scene.lights:
        raise Refused(f"{scene.name}: only surfaces that emit are converted, no other lights")
    # LuxCore has no quadrics; triangles with a sphere's own normals are as good as it, at these sizes.
    triangles, camera = scene.tessellated(SEGMENTS).flatten(), scene.camera()
    odd = [m.name for m in scene.materials if m.kind not in KINDS or m.texture is not None]
    if odd:
        raise Refused(f"{scene.name}: material '{odd[0]}' is not converted, only {', '.join(KINDS)}, without textures")
    corners = triangles.positions[triangles.triangles]
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    flat = np.zeros_like(triangles.positions)
    for corner in range(3):
        np.add.at(flat, triangles.triangles[:, corner], faces)
    normals = flat / np.maximum(np.linalg.norm(flat, axis=1, keepdims=True), 1e-30)
    if triangles.normals is not None:
        smooth = np.linalg.norm(triangles.normals, axis=1, keepdims=True) > 0.5
        normals = np.where(smooth, triangles.normals, normals)
    mesh = {"positions": triangles.positions, "normals": normals, "triangles": triangles.triangles}
    mesh |= {"materials": triangles.materials, "kinds": np.array([m.kind for m in scene.materials])}
    colors = {
        "base_color": [m.base_color[:3] for m in scene.materials],
        "emission": [m.emission for m in scene.materials],
    }
    values = {**colors, "ior": [m.ior for m in scene.materials], "fov": camera.fov}
    values |= {name: getattr(camera, name) for name in ("origin", "target", "up")}
    np.savez(path, size=np.array(size), **mesh, **{name: np.array(each, float) for name, each in values.items()})


def compared(ours: np.ndarray, theirs: np.ndarray) -> dict[str, float]:
    """Relative: of the means; the root mean square and the median of blocks; and the share of blocks beyond 10 %."""
    rows = len(ours) - BLOCK
    mine, other = (block_means(each.mean(axis=2), BLOCK) for each in (ours[:rows], theirs[LOWER : LOWER + rows]))
    apart = (mine - other) / np.maximum(other, DARKEST * other.mean())
    far = np.abs(apart)
    figures = {"mean": mine.mean() / other.mean() - 1, "blocks": np.sqrt(np.mean(apart**2)), "median": np.median(far)}
    return {name: float(value) for name, value in {**figures, "beyond_a_tenth": (far > 0.1).mean()}.items()}


def _luxcore(arrays: Path, out: Path, seconds: float) -> str:
    """Have it rendered by the Python that has it. Raises Refused where none has."""
    python = os.environ.get("RAYSTREAM_PEERS_PYTHON") or sys.executable
    probe = subprocess.run([python, "-c", "import numpy, pyluxcore"], capture_output=True, check=False)
    if probe.returncode:
        raise Refused(f"pyluxcore is not installed for {python} (pip install pyluxcore numpy)")
    command = [python, str(Path(__file__)), "--luxcore", json.dumps([str(arrays), str(out), seconds])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or not out.is_file():
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise Refused(f"LuxCore: {lines[-1]}")
    return done.stdout.strip().splitlines()[-1]


def compare(name: str, size: int, seconds: float, spp: int) -> dict[str, Any]:
    """Both pictures, and how far they are apart."""
    import raystream

    scene = raystream.load(name)
    with tempfile.TemporaryDirectory(prefix="raystream-luxcore-") as folder:
        arrays, picture = Path(folder) / "scene.npz", Path(folder) / "picture.npy"
        write_arrays(arrays, scene, size)
        version = _luxcore(arrays, picture, seconds)
        theirs = np.load(picture)
    renderer = raystream.Renderer(scene, program="photon", photon_bounces=PHOTON_BOUNCES, depth=DEPTH)
    began = time.perf_counter()
    ours = renderer.render((size, size), spp=spp).linear
    return {"version": version, "seconds": time.perf_counter() - began, **compared(ours, theirs)}


def main(argv: Sequence[str] | None = None) -> int:
    """0; 2 where there is nothing to compare with."""
    parser = argparse.ArgumentParser(prog="luxcore.py", description=__doc__.splitlines()[0])
    parser.add_argument("--scene", default="glass_ball")
    parser.add_argument("--size", type=int, default=128, help="pixels an edge, a multiple of 8, 16 or more")
    parser.add_argument("--seconds", type=float, default=60.0, help="of LuxCore")
    parser.add_argument("--spp", type=int, default=64, help="of Raystream")
    parser.add_argument("--luxcore", help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.luxcore is not None:
        arrays, out, seconds = json.loads(arguments.luxcore)
        picture, version = luxcore_picture(np.load(arrays), seconds)
        np.save(out, picture)
        print(version)
        return 0
    if arguments.size < 2 * BLOCK or arguments.size % BLOCK:
        parser.error(f"--size {arguments.size}: a multiple of {BLOCK}")
    try:
        comparison = compare(arguments.scene, arguments.size, arguments.seconds, arguments.spp)
    except Refused as error:
        print(f"luxcore.py: {error}", file=sys.stderr)
        return 2
    print(
        f"{arguments.scene}, {arguments.size} x {arguments.size}: LuxCore {comparison['version']} BIDIRVMCPU "
        f"{arguments.seconds:g} s, Raystream photon {arguments.spp} samples in {comparison['seconds']:.1f} s"
    )
    print(
        f"mean {100 * comparison['mean']:+.2f} %; blocks of {BLOCK} x {BLOCK}: RMS {100 * comparison['blocks']:.2f} %, "
        f"median {100 * comparison['median']:.2f} %, beyond 10 %: {100 * comparison['beyond_a_tenth']:.1f} % of them"
    )
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tools" / "editable"))  # the checkout, before an installed one
    sys.exit(main())

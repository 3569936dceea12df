"""Mitsuba 3 as one of the renderers of `peers`: its path tracer without Russian roulette, box filter of one pixel.

W. Jakob et al., Mitsuba 3 renderer (2022). The variant is ``scalar_rgb`` or ``llvm_ad_rgb``; the latter needs an LLVM
library recent enough for Dr.Jit, found automatically or by ``DRJIT_LIBLLVM_PATH``.
"""

from __future__ import annotations

import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.noise.peers import Job, Missing, by_material

NEAR, FAR = 1e-4, 1e3  # clipping planes of the camera, as shares of the scene's size
NO_ROULETTE = 1 << 20  # path length at which Russian roulette would begin


def load(job: Job) -> None:
    """Import Mitsuba and choose the variant. Raises Missing."""
    try:
        import mitsuba as mi

        mi.set_variant(job.variant)
        if job.variant.startswith("llvm"):
            import drjit as dr

            dr.eval(mi.Float([0.0]) + 1.0)
    except Exception as error:  # none installed; Dr.Jit raises plain exceptions without LLVM
        raise Missing(f"{job.title}: {str(error).splitlines()[0]}") from None


class Mitsuba:
    """A scene of one mesh per material, with one integrator and one camera."""

    def __init__(self, job: Job) -> None:
        import drjit as dr
        import mitsuba as mi

        dr.set_thread_count(job.threads)
        self.version = mi.__version__
        self.compiles = not job.variant.startswith("scalar")
        self._sampler = job.sampler
        with np.load(job.arrays) as arrays, tempfile.TemporaryDirectory() as folder:
            scene: dict[str, Any] = {
                "type": "scene",
                # Mitsuba counts the edges of a path, from the camera to the light.
                "integrator": {"type": "path", "max_depth": job.surfaces + 1, "rr_depth": NO_ROULETTE},
                "sensor": _sensor(arrays, job),
            }
            for number, positions, triangles in by_material(arrays):
                path = Path(folder) / f"{number}.ply"
                _write_ply(path, positions, triangles)
                scene[f"mesh{number}"] = _mesh(path, arrays["base_color"][number], arrays["emission"][number])
            self._scene = mi.load_dict(scene)

    def render(self, samples: int, seed: int) -> int:
        """See `Peer`: times `mitsuba.render`, with the picture read back."""
        mi: Any = import_module("mitsuba")

        self._picture = np.array(mi.render(self._scene, spp=samples, seed=seed), np.float32)
        # A stratified sampler rounds the count up to a layout of its own.
        return int(mi.load_dict({"type": self._sampler, "sample_count": samples}).sample_count())

    def picture(self) -> NDArray[np.float32]:
        """See `Peer`."""
        return self._picture


def _sensor(arrays: Any, job: Job) -> dict[str, Any]:
    import mitsuba as mi

    span = float(np.ptp(np.vstack([arrays["positions"], arrays["origin"]]), axis=0).max())
    origin, target, up = (arrays[name].tolist() for name in ("origin", "target", "up"))
    film: dict[str, Any] = {"type": "hdrfilm", "pixel_format": "rgb", "component_format": "float32"}
    film |= {"width": job.size[0], "height": job.size[1], "rfilter": {"type": "box"}}
    sensor: dict[str, Any] = {"type": "perspective", "fov": float(arrays["fov"]), "fov_axis": "y"}
    sensor |= {"near_clip": NEAR * span, "far_clip": FAR * span, "film": film, "sampler": {"type": job.sampler}}
    return {**sensor, "to_world": mi.ScalarTransform4f().look_at(origin, target, up)}


def _mesh(path: Path, base_color: NDArray, emission: NDArray) -> dict[str, Any]:
    diffuse = {"type": "diffuse", "reflectance": {"type": "rgb", "value": base_color.tolist()}}
    mesh: dict[str, Any] = {"type": "ply", "filename": str(path), "face_normals": True}
    mesh["bsdf"] = {"type": "twosided", "side": diffuse}
    if emission.any():
        mesh["emitter"] = {"type": "area", "radiance": {"type": "rgb", "value": emission.tolist()}}
    return mesh


def _write_ply(path: Path, positions: NDArray, triangles: NDArray) -> None:
    """A binary PLY of positions (V, 3) and triangles (T, 3)."""
    header = (
        "ply\nformat binary_little_endian 1.0\n"
        f"element vertex {len(positions)}\nproperty float x\nproperty float y\nproperty float z\n"
        f"element face {len(triangles)}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    faces = np.zeros(len(triangles), [("count", "u1"), ("corners", "<i4", 3)])
    faces["count"], faces["corners"] = 3, triangles
    path.write_bytes(header.encode() + positions.astype("<f4").tobytes() + faces.tobytes())


make = Mitsuba

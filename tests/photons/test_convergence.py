"""Progressive photon mapping comes to the references: errors of block means, and that they fall with the samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raystream
from raystream import Renderer

LUMINANCE = np.array((0.2126, 0.7152, 0.0722))
# Root mean square of the blocks' errors after 64 samples and after these: 0.0122 and 0.0088, 0.0091 and
# 0.0063, 0.0129 and 0.0077.
PASSES = {"glass_sphere": 256, "metal_ring": 256, "cornell": 512}
PHOTONS: dict[str, dict[str, int]] = {"cornell": {"photons": 1 << 14}}
SCENES = {"glass_sphere": "glass_sphere_256", "metal_ring": "metal_ring_256", "cornell": "cornell_gi_128"}


class Against:
    """A scene of the references, and how far pictures of it are from its own."""

    def __init__(self, folder: Path, scene: str, **options: Any) -> None:
        with np.load(folder / f"{SCENES[scene]}.npz") as data:
            self.mean, self.stderr = (data[name].astype(float) @ LUMINANCE for name in ("mean", "stderr"))
        edges = json.loads((folder / f"{SCENES[scene]}.json").read_text())["integrator"]["max_depth"]
        options |= {"depth": edges - 1, "photon_bounces": edges - 2, "program": "photon", "machine": "singlepass"}
        options["environment"] = "none"  # nothing is behind the references
        self.renderer = Renderer(raystream.load(str(folder / f"{scene}.glb")), **options)

    def errors(self, samples: int) -> tuple[NDArray, NDArray, float]:
        """By blocks of 8 x 8 pixels, relative to the reference's or, if it is darker, to a tenth of the picture's mean:
        the error, and the reference's standard error; and the relative error of the whole picture's mean."""
        picture = self.renderer.render(self.mean.shape[::-1], spp=samples).linear.astype(float) @ LUMINANCE
        divisor = np.maximum(blocks(self.mean), 0.1 * self.mean.mean())
        noise = np.sqrt(blocks(self.stderr**2) / 64) / divisor
        return blocks(picture - self.mean) / divisor, noise, picture.mean() / self.mean.mean() - 1


def blocks(values: NDArray) -> NDArray:
    """The means of blocks of 8 x 8."""
    height, width = values.shape
    return values.reshape(height // 8, 8, width // 8, 8).mean(axis=(1, 3))


def rms(values: NDArray) -> float:
    return float(np.sqrt((values**2).mean()))


@pytest.mark.slow
@pytest.mark.parametrize("scene", SCENES)
def test_blocks_within_two_percent(shared_refs: Path, scene: str) -> None:
    """After 64 samples, in the root mean square of all blocks: measured as 0.012, 0.010 and 0.016, with the reference's
    noise. What is beyond 2 % are edges: blocks along the ring and the box's front, where part of a disc is off the
    surface (-3 to -9 %, falling as the radius does), the caustics' own edges, and shadows, which are noisy."""
    against = Against(shared_refs, scene)
    before, after = against.errors(16), against.errors(64)
    error, noise, mean = after
    assert rms(error) < 0.02
    assert (np.abs(error) < 0.02 + 2 * noise).mean() > 0.8
    # Radii fall as n^(-1/6), areas of bias and variance as n^(-2/3) in the square (Knaus and Zwicker 2011): times 0.63.
    assert rms(error) < 0.75 * rms(before[0])
    assert abs(mean) < 0.004 and abs(mean) < abs(before[2]) + 0.001


@pytest.mark.slow
@pytest.mark.parametrize("scene", SCENES)
def test_every_block_within_two_percent(shared_refs: Path, scene: str) -> None:
    """After `PASSES` with a final gather of one ray, beyond what chance makes of the reference: the discs of visible
    surfaces then hold caustic photons alone, and none reaches over an edge to a wall that is lit otherwise."""
    against = Against(shared_refs, scene, final_gather=1, seed=1, **PHOTONS.get(scene, {}))
    before, after = against.errors(64), against.errors(PASSES[scene])
    error, noise, mean = after
    # 3 standard errors: of a thousand blocks one in three would be beyond 2 by chance alone, where few are near 2 %.
    assert (np.abs(error) < 0.02 + 3 * noise).all()
    assert rms(error) < 0.8 * rms(before[0])  # measured: see PASSES
    assert abs(mean) < 0.004

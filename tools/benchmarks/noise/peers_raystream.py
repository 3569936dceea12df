"""Raystream as one of the renderers of `peers`: `raystream.Renderer` as called by a script."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.noise.peers import TOOLS, Job


def load(job: Job) -> None:
    """Import the renderer."""
    sys.path.insert(0, str(TOOLS / "editable"))  # the checkout precedes an installed package
    import raystream

    assert raystream.Renderer is not None  # imported on access


def make(job: Job) -> Raystream:
    """The renderer with its scene."""
    return Raystream(job)


class Raystream:
    """Path tracing on the machine of the job's variant, all other options at their defaults."""

    compiles = False

    def __init__(self, job: Job) -> None:
        import raystream

        self.version, self._size = raystream.__version__, job.size
        seen: dict[str, Any] = {}
        if job.view is not None:
            camera = raystream.Camera(*(job.view[name] for name in ("origin", "target", "up", "fov_vertical")))
            seen = {"camera": camera, "environment": job.view["environment"], "pixel_filter": "box"}
            seen["back_faces"] = "shown"
        self._renderer = raystream.Renderer(
            raystream.load(job.scene),
            program="path",
            machine=job.variant,
            sampler=job.sampler,
            depth=job.surfaces,
            device=job.device,
            **seen,
        )
        self._picture: NDArray[np.float32] | None = None

    def render(self, samples: int, seed: int) -> int:
        """See `Peer`: times `Renderer.render`, with the picture read back."""
        self._renderer.update(seed=seed)
        self._picture = self._renderer.render(self._size, spp=samples).linear
        return samples

    def picture(self) -> NDArray[np.float32]:
        """See `Peer`."""
        assert self._picture is not None
        return self._picture

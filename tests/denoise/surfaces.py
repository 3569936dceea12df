"""Pictures of surfaces for the passes of the denoiser: records of what is seen, and streams of them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from alike_twin import surface_in, through
from numpy.typing import NDArray

from raystream.denoise.records import LIT
from raystream.kernels.records import FEATURES
from raystream.scene.camera import Camera
from raystream.stream.declare.record import Record
from raystream.stream.gl.device import Device
from raystream.stream.gl.stream import Stream


def stream(device: Device, record: Record, values: NDArray) -> Stream:
    made = Stream(device, record, values.shape[::-1])
    made.write(values)
    return made


def release(streams: Iterable[Stream]) -> None:
    for each in streams:
        each.release()


def facing(size: tuple[int, int], nearness: NDArray | float, normal: NDArray | tuple = (0.0, 0.0, 1.0)) -> NDArray:
    """`LIT` of dark surfaces, of a known variance of 0. nearness : 0 where nothing is hit."""
    made = np.zeros(size[::-1], LIT.dtype)
    made["nearness"] = nearness
    made["normal"] = np.where(made["nearness"][..., None] > 0, normal, 0.0)
    return made


def fluted(columns: NDArray, most: float) -> NDArray:
    """Normals at columns of a wall whose flutes turn it by up to ``most`` degrees to the left and right, every
    few columns."""
    turn = np.radians(most) * np.sin(1.7 * columns)
    return np.stack([np.sin(turn), 0 * turn, np.cos(turn)], axis=-1)


def features_of(lit: NDArray, camera: Camera, albedo: NDArray | float = 0.5) -> NDArray:
    """`FEATURES` of the surfaces of `LIT`, of one sample; of four where they see several, of which two are others."""
    made, hit = np.zeros(lit.shape, FEATURES.dtype), lit["nearness"] > 0
    view, _, _ = through(camera, lit.shape[::-1])
    made["normal"], made["hits"], made["count"] = lit["normal"], hit, 1
    made["albedo"], made["surface"], made["alike"] = albedo * hit[..., None], surface_in(lit["variance"]) >> 1, hit
    made["depth"] = np.linalg.norm(view, axis=-1) * hit / np.where(hit, lit["nearness"], 1)
    mixed = surface_in(lit["variance"]) & 1 > 0
    for name in ("normal", "albedo", "depth", "hits", "count"):
        made[name][mixed] *= 4
    made["alike"][mixed] *= 2
    return made

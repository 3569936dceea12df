"""A round of a session: a preview, a picture, or more samples for the one on show."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from viewer.film.device_film import FilmBuffer
from viewer.renderer.device.tile_job import Tile
from viewer.renderer.sampling.frame_plan import Event
from viewer.scene.camera import Camera


@dataclass
class Round:
    """What is under way: its events, whether it is a preview, its share of the session's width and height, its size,
    the camera, the film that it adds to, the samples that every pixel will have, the new ones, the seconds it has
    taken, those of them for photon maps and for drawing a preview up, whether what is shown is denoised, whether its
    pieces are still traced, whether its samples are for this one picture of a moving camera alone, what their numbers
    begin with, whether its passes are queued: the host waits for none, and prepares the next ones meanwhile, and the
    tile that a machine works on."""

    events: Generator[Event, None, None]
    preview: bool
    scale: float
    size: tuple[int, int]
    camera: Camera
    film: FilmBuffer | None
    samples: int
    added: int
    spent: float = 0.0
    mapping: float = 0.0
    drawing: float = 0.0
    denoised: bool = False
    tracing: bool = True
    fleeting: bool = False
    first: int = 0
    queued: bool = False
    under_way: Tile | None = None

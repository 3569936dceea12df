"""The picture of an environment went with every tile to the workers of a cluster, and each tile made a renderer of its
own, because no two pictures are equal; frames named its file, which other machines lack."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np

import raystream
from raystream.farm import worker
from raystream.farm.pictures import portable_settings
from raystream.farm.units import tile_units
from raystream.film.files import image


def test_the_picture_comes_with_the_scene(tmp_path: Path) -> None:
    path, size = tmp_path / "sky.exr", (16, 8)
    image.save(path, np.random.default_rng(0).random((8, 16, 3), np.float32), {}, {}, 0.0, "none")
    renderer = raystream.Renderer(
        "balls", machine="singlepass", depth=1, environment=str(path), environment_rotation=20.0
    )
    settings, environment = portable_settings(renderer.settings)
    path.unlink()  # on another machine
    worker.store_payload("scene", np.frombuffer(pickle.dumps((renderer.prepared.given, environment)), np.uint8))
    made = raystream.film.film.Film(*size)
    held = []
    for unit in tile_units(size, 1, 8):
        spec = pickle.loads(pickle.dumps(worker.RendererSpec("scene", settings, renderer.camera)))
        assert b"sky.exr" not in pickle.dumps(spec)
        made.store(worker.trace(spec, size, unit).film.records(), unit.left, unit.top)
        held.append(worker._PROCESS.renderer)
    assert len(held) == 2 and held[0] is held[1]
    np.testing.assert_array_equal(made.linear, renderer.render(size, 1).linear)
    worker._release_renderers()
    worker._PROCESS.scenes.clear()
    renderer.release()

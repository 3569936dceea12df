"""What the dissertation's machine is given for a debug view, and the inspector's passes, by a machine that notes it."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.renderer.inputs.settings import Settings
from raystream.scene.camera import Camera
from raystream.viewport.debug_views.inspector import Inspector, load_camera_rays

CAMERA = Camera((0, 0, 5), (0, 0, 0), aperture=0.25, focus=4.0)
PIXEL = np.dtype([("at", "i4", 2)])
OTHER = np.dtype([("value", "f4")])


class Machine:
    """Of 3 x 2 rays, whose program has these inputs."""

    def __init__(self, *inputs: str) -> None:
        program = SimpleNamespace(inputs=inputs, name="tables")
        records = {name: SimpleNamespace(dtype=PIXEL if name == "pixel" else OTHER) for name in inputs}
        self.linked: Any = SimpleNamespace(program=program, records=records)
        self.size, self.uniforms, self.written = (3, 2), {}, {}
        self.borrowed: list[Any] = []

    def set(self, uniforms: dict[str, Any]) -> None:
        self.uniforms |= uniforms

    def borrow(self, streams: Any) -> None:
        self.borrowed.append(streams)

    def write(self, name: str, elements: np.ndarray) -> None:
        self.written[name] = elements


def renderer(**photons: Any) -> Any:
    photon_map = SimpleNamespace(streams=photons, uniforms=lambda *of: {"map": of})
    settings = Settings(pixel_filter="gaussian")

    def sample_uniforms(program: Any, chosen: Settings, shared: bool) -> dict[str, Any]:
        return {**chosen.sample_uniforms(shared), "of scene": program.name}

    prepared = SimpleNamespace(sample_uniforms=sample_uniforms)
    gpu_scene = SimpleNamespace(first_hits=lambda settings, camera: SimpleNamespace(shared=True))
    return SimpleNamespace(
        settings=settings, camera=CAMERA, gpu_scene=gpu_scene, photon_map=photon_map, prepared=prepared
    )


def test_photons_are_borrowed() -> None:
    machine: Any = Machine("pixel", "photons", "first_photons")
    mapped = renderer(photons="P", first_photons="F")
    load_camera_rays(machine, mapped, CAMERA, (64, 48))
    assert machine.borrowed == [{"photons": "P", "first_photons": "F"}] and list(machine.written) == ["pixel"]
    assert machine.uniforms["map"] == (mapped.settings, CAMERA, 48)
    with pytest.raises(ViewerError, match=r"its photon map is missing \(render a picture first\)"):
        load_camera_rays(machine, renderer(), CAMERA, (64, 48))


def test_programs_that_start_from_no_pixel() -> None:
    machine: Any = Machine("table")
    with pytest.raises(ViewerError, match="program tables: does not start from pixels"):
        load_camera_rays(machine, renderer(), CAMERA, (64, 48))
    assert machine.written == {}


# -- the inspector's passes --------------------------------------------------------------------------------------------


class Stage:
    """An inspector of four rays, whose passes leave their states at these numbers."""

    def __init__(self, *states: list[int]) -> None:
        self.left = list(states)
        by_name = {name: SimpleNamespace(kernel=SimpleNamespace(name=f"{name}_kernel")) for name in ("eye", "walk")}
        program = SimpleNamespace(by_name=by_name, states=list(by_name))
        self.stats: Any = SimpleNamespace(kernel_passes=0, passes=[], active_share=0.5, per_step=lambda: {"eye": {}})
        machine: Any = SimpleNamespace(linked=SimpleNamespace(program=program), stats=self.stats, rays=4, size=(2, 2))
        machine.state = SimpleNamespace(read=lambda: {"at": np.array(self.now).reshape(2, 2)})
        machine.release = lambda: self.done.append("release")
        self.done: list[str] = []
        self.now = [1, 1, 1, 1]
        settings = Settings(program="photon")
        renderer: Any = SimpleNamespace(settings=settings, camera=CAMERA, device=SimpleNamespace(current=nullcontext))
        self.made = made = Inspector(renderer, (2, 2))
        made._machine, made._run = machine, self.run()
        made._waiting = {"done": 0, "eye": 4, "walk": 0}

    def run(self) -> Any:
        for number, states in enumerate(self.left):
            self.now = states
            yield "no pass"
            self.stats.kernel_passes += 1
            name = ("eye", "walk")[number > 0]
            self.stats.passes.append(SimpleNamespace(step=name, fragments=4 - number, calls=5 - number, seconds=0.25))
            yield "pass"


def test_other_photons_begin_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """The map that the run borrowed may be gone; a run that has ended stays as it is."""
    stage, begun = Stage([2, 2, 0, 2], [0, 0, 0, 0]), []

    def begin(camera: Camera) -> None:
        begun.append(camera)
        stage.made._photons = stage.made._photon_options()

    monkeypatch.setattr(stage.made, "begin", begin)
    assert stage.made.step() and begun == []
    settings = stage.made.renderer.settings
    stage.made.renderer.settings = settings.replace(photons=77)
    assert stage.made.step() and begun == [CAMERA]
    assert not stage.made.step()
    stage.made.renderer.settings = settings.replace(photons=78)
    assert not stage.made.step() and begun == [CAMERA]


def test_an_inspector_without_a_run() -> None:
    stage = Stage([0, 0, 0, 0])
    made = stage.made
    made.release()
    made.release()
    assert stage.done == ["release"] and not made.complete
    with pytest.raises(ViewerError, match="there is no run"):
        made.step()

"""What a worker's process keeps between units, and the build by which workers are told apart."""

from __future__ import annotations

import hashlib
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raystream
from raystream.farm import units as build_module
from raystream.farm import worker
from raystream.farm.units import Unit
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.renderer import Renderer
from raystream.renderer.sequence import FrameSequence
from raystream.scene.environment import ImageEnvironment

SIZE = (8, 6)
OPTIONS = {"machine": "singlepass", "depth": 1}


@pytest.fixture(autouse=True)
def process(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that has just begun."""
    monkeypatch.setattr(worker, "_PROCESS", worker._Process())


def held(digest: str, scene: raystream.Scene) -> worker.RendererSpec:
    worker.store_payload(digest, np.frombuffer(pickle.dumps((scene, None)), np.uint8))
    return worker.RendererSpec(digest, Settings(**OPTIONS))


def test_frames_of_another_scene() -> None:
    """A second animation on the same cluster is not the first."""
    seen = []
    for name in ("cornell", "sphere"):
        scene = raystream.load(name)
        motion = FrameSequence(scene, range(2), 30.0, True, None, OPTIONS, size=SIZE)
        asked = {"size": SIZE, "spp": 1}
        made = worker.frame(held(name, scene), motion, asked, 1, False)
        (*_, alone) = raystream.render_frames(scene, range(2), turntable=True, render=asked, **OPTIONS)
        np.testing.assert_array_equal(made.picture.linear, alone.picture.linear)
        seen.append(made.picture.linear)
    assert not np.array_equal(*seen)


@pytest.fixture
def released(monkeypatch: pytest.MonkeyPatch) -> list[Renderer]:
    """Renderers that are given back."""
    found: list[Renderer] = []
    release = Renderer.release

    def gone(self: Renderer) -> None:
        found.append(self)
        release(self)

    monkeypatch.setattr(Renderer, "release", gone)
    return found


def test_scenes_that_are_held() -> None:
    """Two; those that came or were asked for last. One that is there already stays the same object."""
    scenes = {digest: (digest * 3, None) for digest in "abcd"}
    payloads = {digest: np.frombuffer(pickle.dumps(scene), np.uint8) for digest, scene in scenes.items()}
    kept = worker._PROCESS.scenes
    for digest, there in (("a", "a"), ("b", "ab"), ("c", "bc"), ("b", "cb"), ("d", "bd"), ("d", "bd"), ("a", "da")):
        before = kept.get(digest)
        worker.store_payload(digest, payloads[digest])
        assert "".join(kept) == there and kept[digest] == scenes[digest]
        assert before is None or kept[digest] is before


def test_a_scene_with_its_environment() -> None:
    """The settings have it again; without one they are what was sent. A scene that is not there is told by its name."""
    image = ImageEnvironment(np.ones((2, 4, 3), np.float32), "mine")
    scene, settings = raystream.load("cornell"), Settings(environment="sky", **OPTIONS)
    worker.store_payload("one", np.frombuffer(pickle.dumps((scene, image)), np.uint8))
    worker.store_payload("two", np.frombuffer(pickle.dumps((scene, None)), np.uint8))
    found, given = worker._scene_and_settings(worker.RendererSpec("one", settings))
    assert found.name == "cornell" and given.environment.name == "mine"
    assert given.replace(environment="sky") == settings
    assert worker._scene_and_settings(worker.RendererSpec("two", settings))[1] is settings
    with pytest.raises(worker.SceneLost) as caught:
        worker._scene_and_settings(worker.RendererSpec("three", settings))
    assert caught.value.args == ("three",)


def test_the_renderer_that_is_kept(released: list[Renderer]) -> None:
    """From one unit to the next of the same picture; another has its own, with its settings and its camera."""
    scene, unit, process = raystream.load("cornell"), Unit(0, 0, *SIZE, 1), worker._PROCESS
    spec = held("a", scene)
    films = [worker.trace(spec, SIZE, unit).film for _ in range(2)]
    first = process.renderer
    assert first is not None and not released and process.spec == spec
    np.testing.assert_array_equal(films[0].mean(), films[1].mean())
    same = worker.RendererSpec("a", Settings(**OPTIONS))
    worker.trace(same, SIZE, unit)
    assert process.renderer is first, "equal ones are the same"
    other = worker.RendererSpec("a", Settings(**OPTIONS).replace(shadows=False))
    worker.trace(other, SIZE, unit)
    assert released == [first] and process.renderer is not first and process.spec == other
    aside = raystream.Renderer(scene, camera="0.5,1,3 0,1,0", **OPTIONS)
    looked = worker.trace(worker.RendererSpec("a", Settings(**OPTIONS), aside.camera), SIZE, unit)
    np.testing.assert_array_equal(looked.film.mean(), aside.render(SIZE, 1).linear)
    assert process.renderer is not None and process.renderer.camera == aside.camera and len(released) == 2
    aside.release()
    released.clear()
    last = process.renderer
    worker._release_renderers()
    worker._release_renderers()
    assert released == [last] and (process.renderer, process.spec, process.staged) == (None, None, None)
    assert list(process.scenes) == ["a"]


def test_frames_and_units_by_turns(released: list[Renderer], monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames of one scene have one renderer, and its ground once; a unit after them has its own."""
    scene, asked, process = raystream.load("cornell"), {"size": SIZE, "spp": 1}, worker._PROCESS
    spec = held("a", scene)
    motion = FrameSequence(scene, range(4, 8, 2), 10.0, True, None, OPTIONS, size=SIZE)
    staged: list[Any] = []
    stage = FrameSequence.staged
    monkeypatch.setattr(FrameSequence, "staged", lambda self, given: staged.append(given) or stage(self, given))
    made = [worker.frame(spec, motion, asked, k, with_film) for k, with_film in ((1, True), (0, False))]
    assert [(frame.number, frame.seconds) for frame in made] == [(6, 0.6), (4, 0.4)]
    assert [frame.picture.film is None for frame in made] == [False, True]
    assert len(staged) == 1 and not released and made[0].picture.metadata["frame"] == "6"
    alone = list(raystream.render_frames(scene, range(4, 8, 2), 10.0, turntable=True, render=asked, **OPTIONS))
    released.clear()
    for frame, wanted in zip(made[::-1], alone, strict=True):
        np.testing.assert_array_equal(frame.picture.linear, wanted.picture.linear)
    frames = process.renderer
    found = worker.trace(spec, SIZE, Unit(0, 0, *SIZE, 1))
    assert released == [frames] and process.staged is None
    plain = raystream.render(scene, size=SIZE, spp=1, **OPTIONS)
    np.testing.assert_array_equal(found.film.mean(), plain.linear)
    worker.frame(spec, motion, asked, 1, False)
    assert process.staged is not None and staged[1:] and process.renderer is not frames
    with pytest.raises(worker.SceneLost):
        worker.frame(held("b", scene) and worker.RendererSpec("c", spec.settings), motion, asked, 0, False)


def test_the_digest_of_code_and_shaders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all files by their names, but for the farm's own; it tells any change."""
    code, glsl = tmp_path / "viewer", tmp_path / "shaders"
    counted = [code / "__init__.py", code / "a" / "b.py", glsl / "kernel.glsl"]
    others = [code / "a" / "note.txt", code / "farm" / "task_scheduler.py", glsl / "kernel.py"]
    for path in (*counted, *others):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"1")
    monkeypatch.setattr(raystream, "__file__", str(code / "__init__.py"))
    monkeypatch.setattr(build_module, "shaders", lambda: glsl)
    found = [build_module.source_digest.__wrapped__()]
    whole = b"__init__.py\x001\x00a/b.py\x001\x00kernel.glsl\x001\x00"
    assert found[0] == hashlib.blake2b(whole, digest_size=4).hexdigest()
    for path in others:
        path.write_bytes(b"changed")
        assert build_module.source_digest.__wrapped__() == found[0]
    for path in counted:
        path.write_bytes(b"2")
        found.append(build_module.source_digest.__wrapped__())
    counted[1].rename(code / "a" / "c.py")
    assert len({*found, build_module.source_digest.__wrapped__()}) == 5

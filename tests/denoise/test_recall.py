"""What light becomes by what an irradiance cache knows of its place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from viewer.denoise.records import HISTORY, LIT
from viewer.denoise.reprojection import MOST_KNOWN, RECALLED, Changes, History
from viewer.denoise.view import view_uniforms
from viewer.kernels.records import FEATURES
from viewer.scene.camera import Camera
from viewer.stream.gl.device import Device
from viewer.stream.gl.passes import Pass
from viewer.stream.gl.stream import Stream

SIZE = 16, 8
CAMERA = Camera((0.0, 0.0, 4.0), (0.0, 0.0, 0.0))
BLURRED = 0.5  # of recall.glsl


@pytest.fixture(scope="module")
def recall(device: Device) -> Pass:
    with device.current():
        return Pass(device, "film/denoise/recall", RECALLED, HISTORY, planar=True)


def recalled(recall: Pass, lit: NDArray, own: NDArray, known: NDArray) -> NDArray:
    device = recall.device
    with device.current():
        streams = {name: Stream(device, record, SIZE) for name, record in RECALLED.items()}
        for name, records in (("lit", lit), ("own", own), ("known", known)):
            streams[name].write(records)
        made = Stream(device, HISTORY, SIZE)
        recall.draw(streams, made, **view_uniforms(CAMERA, SIZE), samples=1.0, most_known=MOST_KNOWN)
        found = made.read()
        for stream in (*streams.values(), made):
            stream.release()
    return found


def patch(first: float, second: float, age: float, **known: Any) -> tuple[NDArray, NDArray, NDArray]:
    """Records of a wall, all pixels alike."""
    lit, own, cached = (np.zeros(SIZE[::-1], record.dtype) for record in RECALLED.values())
    for each in (lit, own):
        each["normal"], each["nearness"], each["rgb"], each["variance"] = (0, 0, 1), 0.25, first, 0.5
    own["first"], own["second"], own["age"], own["instance"] = first, second, age, 3
    for name, value in known.items():
        cached[name] = value
    return lit, own, cached


@pytest.mark.parametrize("variance", [0.0, 4.0, 40.0])
@pytest.mark.parametrize("samples", [3.0, 500.0])
def test_known_light_counts_as_its_samples_less_what_differs_around(
    recall: Pass, samples: float, variance: float
) -> None:
    age, spread = 5.0, 3.0
    found = recalled(recall, *patch(1.0, 1.0 + spread, age, rgb=(2.0, 3.0, 4.0), samples=samples, variance=variance))
    noise = spread * age / (age - 1)  # of a sample, without bias
    told = min(samples, MOST_KNOWN)
    told *= noise / (noise + BLURRED * told * max(variance - noise, 0.0))
    part = told / (age + told)
    inside = found[2:-2, 2:-2]
    np.testing.assert_allclose(inside["rgb"], 1 + part * np.array([1.0, 2.0, 3.0]) + 0 * inside["rgb"], rtol=1e-4)
    np.testing.assert_allclose(inside["age"], age + told, rtol=1e-4)
    np.testing.assert_allclose(inside["variance"], 0.5 * (1 - part), rtol=0.01)  # of which eight bits are kept
    assert (inside["instance"] == 3).all()


def test_what_is_not_known_or_has_no_noise_stays(recall: Pass) -> None:
    lit, own, known = patch(1.0, 4.0, 5.0, rgb=9.0)
    assert (recalled(recall, lit, own, known)["rgb"] == 1).all()
    lit, own, known = patch(1.0, 1.0, 5.0, rgb=9.0, samples=64.0, variance=1.0)
    assert (recalled(recall, lit, own, known)["rgb"] == 1).all()


def test_the_edge_of_a_shadow_stays_in_the_first_picture(recall: Pass) -> None:
    """Light that is there or not, each beside its like: no noise, though its variance is large."""
    lit, own, known = patch(0.0, 0.0, 1.0, rgb=0.5, samples=64.0, variance=0.25)
    bright = (np.arange(SIZE[0]) < 7)[None] & np.ones(SIZE[::-1], bool)
    for each in (lit, own):
        each["rgb"][bright] = 1.0
    own["first"][bright] = own["second"][bright] = 1.0
    own["variance"] = 0.0
    own["variance"][:, 5:9] = 0.25  # of the light around
    edge = recalled(recall, lit, own, known)["rgb"][..., 0]
    np.testing.assert_array_equal(edge, bright)
    noisy = np.random.default_rng(1).random(SIZE[::-1]) < 0.3
    for each in (lit, own):
        each["rgb"] = noisy[..., None]
    own["variance"] = 0.25
    assert np.abs(recalled(recall, lit, own, known)["rgb"][..., 0] - noisy).mean() > 0.2


def test_the_history_keeps_its_own_light_and_forgets_what_has_changed(device: Device) -> None:
    """The cache is asked for pictures of few samples alone, keeps light from camera to camera, and nothing of light
    that is another one."""
    rng = np.random.default_rng(4)
    with device.current():
        history = History(device)
        lit, features = Stream(device, LIT, SIZE), Stream(device, FEATURES, SIZE)
        records = np.zeros(SIZE[::-1], LIT.dtype)
        records["normal"], records["nearness"], records["variance"] = (0, 0, 1), 0.25, -1
        features.clear()
        history.seeks = True
        for number in range(6):
            records["rgb"] = np.where(rng.random(SIZE[::-1]) < 0.2, 5.0, 0.0)[..., None]
            lit.write(records)
            if number:
                history.turn()
            made = history.blend(lit, features, replace(CAMERA, origin=(0.01 * number, 0.0, 4.0)), 1)
        own = history._now.streams["past"].read()
        assert made is not history._now.streams["past"]
        assert made.read()["rgb"].std() < 0.5 * own["rgb"].std()
        assert not history.cache.empty
        for changes in (Changes(relit=True), Changes([(90, 91, np.eye(4))])):  # light falls otherwise around what moves
            history.turn()
            history.changes = Changes()
            history.blend(lit, features, CAMERA, 1)
            assert not history.cache.empty
            history.turn()
            history.changes = changes
            assert history.blend(lit, features, CAMERA, 1) is history._now.streams["past"]
            assert history.cache.empty
        history.turn()
        history.changes, history.seeks = Changes(), False
        assert history.blend(lit, features, CAMERA, 1) is history._now.streams["past"]
        assert not history.cache.empty  # kept for later
        history.forget()
        assert history.cache.empty
        for each in (history, lit, features):
            each.release()


def test_a_first_picture_makes_no_cells(device: Device) -> None:
    """32 MiB that no picture before has filled: those of the next film are made."""
    with device.current():
        history = History(device)
        lit, features = Stream(device, LIT, SIZE), Stream(device, FEATURES, SIZE)
        lit.clear()
        features.clear()
        for samples in (1, 2):
            assert history.blend(lit, features, CAMERA, samples) is history._now.streams["past"]
            assert history.cache.cells is None
        history.turn()
        history.blend(lit, features, CAMERA, 1)
        assert history.cache.cells is not None and not history.cache.empty
        for each in (history, lit, features):
            each.release()

"""Trials that nobody asks for: on a device that is a GPU, as far as anybody knows, while its picture rests."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gl_objects import living

from raystream.film.error import Stop
from raystream.renderer.device import tuning as tunings
from raystream.renderer.device.tuning import (
    CHOICES,
    DEFAULTS,
    MAX_RUN_SECONDS,
    TRIAL_SECONDS,
    TRIALS,
    Skipped,
    load_tuning,
    tuning,
)
from raystream.renderer.preview.scheduler import ASLEEP, POLL
from raystream.renderer.renderer import Renderer
from raystream.renderer.session import trials
from raystream.renderer.session.session import Session
from raystream.renderer.session.trials import (
    LONG,
    MAX_ATTEMPTS,
    PART,
    RESTED,
    BackgroundTrials,
    TrialRuns,
    measure_after,
)
from raystream.stream.compile.memories import IN_BUFFER, tables_of
from raystream.stream.gl.device import Device, open_device
from raystream.stream.jobs import returned
from raystream.stream.machines.multipass import Multipass
from raystream.viewport.picture_texture import PictureTexture

pytestmark = pytest.mark.usefixtures("tuning_folder")
SIZE = 48, 32


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    monkeypatch.setattr(Device, "software", False)
    found = open_device()
    found.software_form = True  # whose defaults are those of CPUs
    yield found
    found.release()


class Forged:
    """Seconds of runs follow from the options; ``shares`` by their values. The clock goes on in runs alone."""

    size = 0, 0

    def __init__(self, monkeypatch: pytest.MonkeyPatch, shares: dict[str, float], seconds: float = 0.008) -> None:
        self.now, self.runs, self.shares, self.seconds = 0.0, list[tuple[str, ...]](), shares, seconds
        monkeypatch.setattr(trials, "time", SimpleNamespace(perf_counter=lambda: self.now, sleep=time.sleep))
        real = trials.sample_run

        def forged(sampler: Any, plan: Any, film: Any) -> Any:
            words = [str(plan.settings[name]) for name in CHOICES if name != "memory"]
            run, asked = real(sampler, plan, film), (*words, memory_of(sampler.scene))
            self.size = plan.size

            def timed() -> None:
                if asked not in self.runs:
                    run()  # bits and state are those of a run, once
                self.runs.append(asked)
                self.now += self.cost(asked)

            return timed

        monkeypatch.setattr(trials, "sample_run", forged)

    def cost(self, asked: tuple[str, ...]) -> float:
        """Seconds of a run."""
        return self.seconds * math.prod(self.shares.get(word, 1.0) for word in asked)


def memory_of(scene: Any) -> str:
    """Where the hot tables of a scene lie."""
    tables = tables_of(scene.structure.modules()).values()
    places = {scene.resources.get(table).layout.per_row == IN_BUFFER for table in tables if table.hot}
    assert len(places) == 1
    return "buffer" if places == {True} else "texture"


def rested(renderer: Renderer) -> Session:
    """A picture on a screen that needs no more samples."""
    session = Session(renderer, SIZE, Stop(4), screen=PictureTexture(renderer.device))
    while not session.idle:
        session.advance(0.01)
        if session.pending:
            time.sleep(0.001)
    return session


def through(found: BackgroundTrials, session: Session) -> int:
    """All turns until the trials are over; their number."""
    turns = 0
    while found.due(session, RESTED) or found.busy:
        found.advance(session, 0.0)
        found.poll()
        turns += 1
        assert turns < 10_000
    return turns


def test_a_picture_at_rest_finds_out_and_the_next_session_has_it(gpu: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    shares = {"ray": 0.5, "kill": 1.5, "census": 0.9, "8": 1.2, "32": 0.8, "texture": 0.7}
    forged = Forged(monkeypatch, shares)
    renderer = Renderer("cornell", device=gpu, program="path")
    with gpu.current():
        session, found = rested(renderer), BackgroundTrials()
        shown, machines = session.linear(), dict(renderer.gpu_scene.machines)
        streams, memories = dict(renderer.gpu_scene.resources._streams), renderer.gpu_scene.resources.bytes()
        assert not found.due(session, 0.9 * RESTED), "the hand has just been there"
        assert found.wait_timeout(session) == ASLEEP, "a loop with nothing else to do looks again"
        found.advance(session, 0.0)
        assert found.wait_timeout(session) == POLL
        assert through(found, session) > 10, "in small steps"
        assert found.wait_timeout(session) == math.inf
        compiling = sum(map(forged.cost, set(forged.runs)))  # the first run of each
        assert 0.8 * TRIAL_SECONDS <= forged.now - compiling <= TRIAL_SECONDS and len(set(forged.runs)) == 1 + TRIALS
        known, wanted = load_tuning()[gpu.driver], {"fuse": "ray", "count": "census", "tile": "32", "memory": "texture"}
        assert known.chosen == DEFAULTS | wanted and not known.note and not known.skipped
        assert {trial.value: trial.seconds / trial.before for trial in known.trials} == pytest.approx(shares)
        # Nothing that is on show, and nothing of this process, is another.
        assert dict(renderer.gpu_scene.machines) == machines and renderer.gpu_scene.resources._streams == streams
        assert renderer.gpu_scene.resources.bytes() == memories and memory_of(renderer.gpu_scene) == "buffer"
        assert tuning(gpu.driver, gpu.software_form) == DEFAULTS and not found.due(session, RESTED)
        np.testing.assert_array_equal(session.linear(), shown)
        film = session.film()
        session.release()
    assert film is not None
    renderer.update(denoise="none")
    np.testing.assert_array_equal(renderer.render(SIZE, spp=4).linear, film.linear)
    tuning.cache_clear()  # as in another process
    other = Renderer("cornell", device=gpu, program="path", denoise="none")
    np.testing.assert_array_equal(other.render(SIZE, spp=4).linear, film.linear)
    machine = next(each for each in other.gpu_scene.machines.values() if isinstance(each, Multipass))
    assert (machine.options.fuse, machine.options.mask, machine.count) == ("ray", "depth", "census")
    assert machine.options.tile == 32
    assert not BackgroundTrials().wanted(other)


def test_what_has_nothing_to_decide_is_left_out(gpu: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles without a census; another memory where the second copy would be large, and where the device itself computes
    tables: the reasons are kept."""
    Forged(monkeypatch, {"texture": 0.1})
    tiles = Skipped("tile", "", "of use to --count census alone")

    def skipped(**options: Any) -> list[Skipped]:
        renderer, found = Renderer("cornell", device=gpu, program="path", **options), BackgroundTrials()
        found.begin(renderer, 1e6)
        while found.step():
            pass
        known = load_tuning()[gpu.driver]
        assert known.chosen["memory"] == ("texture" if len(known.skipped) == 1 else "buffer")
        return list(known.skipped)

    assert skipped() == [tiles]
    assert skipped(accel="grid", rebuild="device-grid") == [
        tiles,
        Skipped("memory", "texture", "tables of this scene are computed on the device"),
    ]
    monkeypatch.setattr(trials, "SHARE", 0.0)
    first, (*memory, reason) = skipped()
    assert first == tiles and memory == ["memory", "texture"]
    assert reason.startswith("a second copy of 1 MiB of tables is too large beside ")


def test_trials_have_the_same_bits_and_leave_nothing(device: Device) -> None:
    """Whatever the values; and the second copy of the hot tables is freed."""
    with device.current():
        renderer = Renderer("cornell", device=device, program="path")
        renderer.render((64, 64), spp=1)

        def films() -> list[np.ndarray]:
            runs, pictures = TrialRuns(renderer, 64), []
            for name, words in CHOICES.items():
                for word in words:
                    run = returned(runs.prepare(DEFAULTS | {"count": "census", name: word}))
                    run()
                    assert runs._film is not None
                    pictures.append(runs._film.film().sum)
            textured = runs._textured
            assert textured is not None and memory_of(textured) == "texture"
            runs.release()
            assert textured.resources.hot_bytes() == 0, "at once, not when Python looks for garbage"
            return pictures

        first, *others = films()
        assert first.any() and len(others) == TRIALS + len(CHOICES) - 1
        for other in others:
            np.testing.assert_array_equal(other, first)
        before, held = living(device), renderer.gpu_scene.resources.bytes()
        films()
        assert renderer.gpu_scene.resources.bytes() == held
        assert living(device)["Texture"] == before["Texture"] and living(device)["Buffer"] == before["Buffer"]


def test_they_are_left_where_the_hand_moves(gpu: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """At any step; nothing is kept, and the picture is the same. They begin again at the next rest, some times."""
    forged = Forged(monkeypatch, {})
    renderer = Renderer("cornell", device=gpu, program="path")
    with gpu.current():
        session, found = rested(renderer), BackgroundTrials()
        shown = session.linear()
        for attempt in range(MAX_ATTEMPTS):
            assert found.due(session, RESTED)
            for _ in range(1 + 9 * attempt):
                found.advance(session, 0.0)
            assert found.busy and not found.due(session, 0.0)
            found.abandon()
            assert not found.busy and load_tuning() == {}
        assert forged.runs and not found.due(session, RESTED)
        np.testing.assert_array_equal(session.linear(), shown)
        # Another scene ends them, too.
        found = BackgroundTrials()
        found.advance(session, 0.0)
        assert found.busy
        renderer.update(scene="sphere")
        assert not found.step() and not found.busy and load_tuning() == {}
        session.update(camera="0,0,5 0,0,0")
        while not session.idle:
            session.advance(0.01)
        found.advance(session, 0.0)
        session.use(Renderer("cornell", device=gpu, program="path"))
        found.advance(session, 0.0)
        assert not found.busy, "another renderer"
        session.release()


def test_who_is_asked(gpu: Device, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    def wanted(found: BackgroundTrials | None = None, **options: Any) -> bool:
        return (found or BackgroundTrials()).wanted(Renderer("cornell", device=gpu, **options))

    assert wanted(program="path")
    assert not wanted(program="cast") and not wanted(program="photon")
    assert not wanted(program="path", machine="singlepass")
    gpu.allow_buffers = False
    assert not wanted(program="path"), "other memories were asked for"
    gpu.allow_buffers = True
    gpu.distrusted = frozenset({"kill mask"})
    assert not wanted(program="path")
    gpu.distrusted = frozenset()
    tunings.save_tuning(gpu.driver, DEFAULTS)
    assert not wanted(program="path")
    tunings.save_tuning("another build", DEFAULTS)
    tunings.tuning_path().unlink()
    assert wanted(program="path")
    monkeypatch.setattr(Device, "software", True)
    assert not wanted(program="path"), "its defaults were measured"


def test_after_a_long_render(gpu: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    forged = Forged(monkeypatch, {"kill": 0.7})
    renderer, begun = Renderer("cornell", device=gpu, program="path"), []

    def measured(seconds: float) -> bool:
        return measure_after(renderer, int(1e7 * seconds), seconds, lambda: begun.append(seconds))

    assert not measured(0.9 * LONG) and not begun and load_tuning() == {}
    forged.seconds = 0.9 * MAX_RUN_SECONDS
    monkeypatch.setattr(trials, "PART", 0.1 / LONG)  # too little for all
    assert not measured(LONG) and begun == [LONG] and load_tuning() == {}
    monkeypatch.setattr(trials, "PART", PART)
    assert measured(LONG) and load_tuning()[gpu.driver].chosen == DEFAULTS | {"mask": "kill"}
    assert not measured(LONG) and len(begun) == 2, "once"

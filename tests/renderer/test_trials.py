"""Trials that nobody asks for: on a device that is a GPU, as far as anybody knows, while its picture rests."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from viewer.base.errors import ShaderError
from viewer.film.error.stop import Stop
from viewer.renderer.device import tuning as tunings
from viewer.renderer.device.tuning import DEFAULTS, SECONDS, load_tuning, tuning
from viewer.renderer.preview.scheduler import ASLEEP, POLL
from viewer.renderer.renderer import Renderer
from viewer.renderer.sampling.sampler import Sampler
from viewer.renderer.session import trials
from viewer.renderer.session.session import Session
from viewer.renderer.session.trials import (
    LONG,
    MOST_ATTEMPTS,
    PART,
    RESTED,
    UNTIMED,
    BackgroundTrials,
    measure_after,
)
from viewer.stream.gl.device import Device, open_device
from viewer.stream.machines.multipass import Multipass
from viewer.viewport.display.picture_texture import PictureTexture

SIZE = 48, 32


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache without results."""
    monkeypatch.setattr(tunings, "tuning_path", lambda: tmp_path / "devices.json")
    tuning.cache_clear()
    yield tmp_path
    tuning.cache_clear()


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    monkeypatch.setattr(Device, "software", False)
    found = open_device()
    found.software_form = True  # whose defaults are those of CPUs
    yield found
    found.release()


class Forged:
    """Seconds of runs follow from the options; ``shares`` by their values. The clock goes on in runs alone."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, shares: dict[str, float], seconds: float = 0.008) -> None:
        self.now, self.runs, self.shares, self.seconds = 0.0, list[tuple[str, ...]](), shares, seconds
        monkeypatch.setattr(trials, "time", SimpleNamespace(perf_counter=lambda: self.now, sleep=time.sleep))
        real = trials.sample_run

        def forged(sampler: Any, plan: Any, film: Any) -> Any:
            run, asked = real(sampler, plan, film), tuple(plan.settings[name] for name in ("fuse", "mask", "count"))
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
        found.look()
        turns += 1
        assert turns < 10_000
    return turns


def test_a_picture_at_rest_finds_out_and_the_next_session_has_it(gpu: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    forged = Forged(monkeypatch, {"ray": 0.5, "kill": 1.5, "census": 0.9})
    renderer = Renderer("cornell", device=gpu, program="path")
    with gpu.current():
        session, found = rested(renderer), BackgroundTrials()
        shown, machines = session.linear(), dict(renderer.gpu_scene.machines)
        streams = dict(renderer.resources._streams)
        assert not found.due(session, 0.9 * RESTED), "the hand has just been there"
        assert found.patience(session) == ASLEEP, "a loop with nothing else to do looks again"
        found.advance(session, 0.0)
        assert found.patience(session) == POLL
        assert through(found, session) > 10, "in small steps"
        assert found.patience(session) == math.inf
        untimed = sum(forged.cost(asked) * UNTIMED for asked in set(forged.runs))
        assert forged.now <= 1.2 * SECONDS + untimed and len(set(forged.runs)) == 4
        known = load_tuning()[gpu.driver]
        assert known.chosen == DEFAULTS | {"fuse": "ray", "count": "census"} and not known.note
        shares = {(trial.option, trial.value): trial.seconds / trial.before for trial in known.trials}
        assert shares == pytest.approx({("fuse", "ray"): 0.5, ("mask", "kill"): 1.5, ("count", "census"): 0.9})
        # Nothing that is on show, and nothing of this process, is another.
        assert dict(renderer.gpu_scene.machines) == machines and renderer.resources._streams == streams
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
    assert not BackgroundTrials().wanted(other)


def test_the_size_of_a_run_follows_from_the_speed_and_slow_devices_are_left_alone(
    gpu: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    forged = Forged(monkeypatch, {}, seconds=0.03)  # of which 18 are more than half a second
    renderer, found = Renderer("cornell", device=gpu, program="path"), BackgroundTrials()
    found.begin(renderer, 1e6)
    while found.step():
        pass
    assert forged.size == (64, 64) and len(forged.runs) == UNTIMED
    assert load_tuning() == {} and not found.wanted(renderer), "not twice in a process"
    forged.seconds = 0.002
    found = BackgroundTrials()
    found.begin(renderer, 6e6)
    found.step()
    while len(forged.runs) < 4 and found.step():
        pass
    assert forged.size == (192, 192)  # 48,000 samples of pixels in 8 ms
    found.abandon()


def test_they_are_left_where_the_hand_moves(gpu: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """At any step; nothing is kept, and the picture is the same. They begin again at the next rest, some times."""
    forged = Forged(monkeypatch, {})
    renderer = Renderer("cornell", device=gpu, program="path")
    with gpu.current():
        session, found = rested(renderer), BackgroundTrials()
        shown = session.linear()
        for attempt in range(MOST_ATTEMPTS):
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


def test_a_program_that_does_not_compile_leaves_the_defaults(gpu: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    Forged(monkeypatch, {"ray": 0.5})
    warm = Sampler.warm

    def broken(self: Sampler, settings: Any, *others: Any) -> Iterator[float]:
        if settings.mask == "kill":
            raise ShaderError("mask.glsl:3", "syntax error,\n unexpected end")
        yield from warm(self, settings, *others)

    monkeypatch.setattr(Sampler, "warm", broken)
    renderer = Renderer("cornell", device=gpu, program="path")
    with gpu.current():
        session, found = rested(renderer), BackgroundTrials()
        through(found, session)
        known = load_tuning()[gpu.driver]
        assert known.chosen == DEFAULTS and [trial.option for trial in known.trials] == ["fuse"]
        assert known.note == "trials failed: mask.glsl:3: syntax error, unexpected end"
        assert not found.due(session, RESTED) and not BackgroundTrials().due(session, RESTED)
        session.release()


def test_who_is_asked(gpu: Device, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    def wanted(found: BackgroundTrials | None = None, **options: Any) -> bool:
        return (found or BackgroundTrials()).wanted(Renderer("cornell", device=gpu, **options))

    assert wanted(program="path")
    assert not wanted(program="cast") and not wanted(program="photon")
    assert not wanted(program="path", machine="singlepass")
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
    forged.seconds = 0.02
    monkeypatch.setattr(trials, "PART", 0.1 / LONG)  # too little for all
    assert not measured(LONG) and begun == [LONG] and load_tuning() == {}
    monkeypatch.setattr(trials, "PART", PART)
    assert measured(LONG) and load_tuning()[gpu.driver].chosen == DEFAULTS | {"mask": "kill"}
    assert not measured(LONG) and len(begun) == 2, "once"

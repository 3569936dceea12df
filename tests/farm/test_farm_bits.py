"""A farm's pictures are those of one process, bit by bit, whoever makes which part and whoever dies meanwhile."""

from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np
import pytest
from test_farm_pictures import OPTIONS, SIZE, SPP, alone, renderer, same

import raystream
import raystream.farm
from raystream.base.errors import DriverWarning
from raystream.farm import worker
from raystream.farm.cluster import connected
from raystream.farm.pictures import render_on
from raystream.farm.task_scheduler import Task, TaskScheduler
from raystream.farm.units import tile_units

__all__ = ["alone", "renderer"]  # fixtures


def test_tiles(scheduler_file: str, alone: raystream.Picture) -> None:
    told: list[tuple[float | None, str]] = []
    picture = raystream.farm.render(
        "cornell",
        scheduler_file,
        size=SIZE,
        spp=SPP,
        layers="depth",
        progress=lambda *text: told.append(text),
        **OPTIONS,
    )
    same(picture.film, alone.film)
    np.testing.assert_array_equal(picture.linear, alone.linear)
    assert picture.metadata["driver"] == alone.metadata["driver"] and picture.layers["depth"].shape == SIZE[::-1]
    assert picture.metadata["samples"] == str(SPP) and picture.stats.kernel_passes > alone.stats.kernel_passes
    shares = [share for share, text in told if "tiles" in text]
    assert shares == sorted(shares) and shares[-1] == 1.0 and len(shares) > 2


def test_ranges_of_samples(scheduler: str, renderer: raystream.Renderer, alone: raystream.Picture) -> None:
    """They have the bits of one process that sums the same ranges, and but for rounding those of any."""
    together = render_on(renderer, scheduler, "samples", size=SIZE, spp=SPP, sample_range=2)
    apart = renderer.render(SIZE, SPP, sample_range=2)
    same(together.film, apart.film)
    # Sums are kept in two floats: that of ranges rounds to the same float, or in a few pixels to the next.
    np.testing.assert_array_max_ulp(apart.linear, alone.linear, 1)


def test_frames(scheduler: str) -> None:
    frames, asked = range(3, 6), {"size": (24, 20), "spp": 1}
    scene = raystream.load("cornell")
    farmed = raystream.farm.render_frames(scene, frames, turntable=True, render=asked, cluster=scheduler, **OPTIONS)
    alone = raystream.render_frames(scene, frames, turntable=True, render=asked, **OPTIONS)
    for one, other in zip(farmed, alone, strict=True):
        assert (one.number, one.seconds) == (other.number, other.seconds)
        np.testing.assert_array_equal(one.picture.linear, other.picture.linear)
        assert one.picture.film is None and one.picture.metadata["frame"] == other.picture.metadata["frame"]


def test_interrupted_and_resumed(
    scheduler: str, renderer: raystream.Renderer, alone: raystream.Picture, tmp_path: Any
) -> None:
    """What is there at Ctrl-C is a state from which one process goes on, or a cluster."""

    def stop(share: float | None, text: str) -> None:
        if share is not None and share > 0.3:
            raise KeyboardInterrupt

    state = renderer.checkpoint(tmp_path / "picture.png")
    assert state is not None
    with pytest.raises(KeyboardInterrupt):
        render_on(renderer, scheduler, size=SIZE, spp=SPP, state=state, progress=stop)
    assert state.saved == 1
    path = str(state.path)
    same(renderer.render(SIZE, SPP, resume=path).film, alone.film)
    same(render_on(renderer, scheduler, size=SIZE, spp=SPP, resume=path).film, alone.film)


def test_drivers_of_before_are_told(scheduler: str, renderer: raystream.Renderer, tmp_path: Any) -> None:
    """Of the samples that a picture had before it came to a cluster, in their order."""
    before = renderer.render(SIZE, 2)
    before.metadata["driver"] = "Old GPU, OpenGL 3.3"
    before.save(tmp_path / "old.exr")
    with pytest.warns(DriverWarning):
        picture = render_on(renderer, scheduler, size=SIZE, spp=3, resume=str(tmp_path / "old.exr"))
    assert picture.metadata["driver"] == f"Old GPU, OpenGL 3.3; {renderer.device.driver}"


def test_the_scheduler_has_gone(
    scheduler: str, renderer: raystream.Renderer, alone: raystream.Picture, tmp_path: Any, monkeypatch: Any
) -> None:
    """What is done until then is kept, and the line says where."""
    look, going = TaskScheduler._check_workers, [True]

    def looked(work: TaskScheduler, waiting: Any) -> None:
        if not going[0]:
            raise OSError("Timed out")
        look(work, waiting)

    monkeypatch.setattr(TaskScheduler, "_check_workers", looked)
    state = renderer.checkpoint(tmp_path / "picture.png")
    assert state is not None

    def end(share: float | None, text: str) -> None:
        going[0] = share is None

    with pytest.raises(raystream.ViewerError, match=r"any more \(Timed out\).*go on with resume='.*state"):
        render_on(renderer, scheduler, size=SIZE, spp=SPP, state=state, progress=end)
    assert state.saved == 1
    same(renderer.render(SIZE, SPP, resume=str(state.path)).film, alone.film)


def test_a_worker_is_killed(scheduler: str, renderer: raystream.Renderer, alone: raystream.Picture) -> None:
    """Its tile is made by another one, and it is replaced."""
    from distributed import Client

    told: list[str] = []
    with Client(scheduler, set_as_default=False) as client:
        pids = list(client.run(os.getpid).values())

        def kill(share: float | None, text: str) -> None:
            if share is not None and share > 0.3 and pids:
                os.kill(pids.pop(), signal.SIGKILL)
                pids.clear()

        picture = render_on(renderer, scheduler, size=SIZE, spp=SPP, progress=kill, notify=told.append)
        client.wait_for_workers(2, timeout=600)  # for the tests that follow
    same(picture.film, alone.film)
    assert len(told) <= 1  # none where the others had done it all before that was seen


def test_the_scene_travels_once(scheduler: str, renderer: raystream.Renderer) -> None:
    with connected(scheduler) as client:
        work = TaskScheduler(client)
        scene = work.add_payload(renderer.prepared.given)
        spec = worker.RendererSpec(scene, renderer.settings, renderer.camera)
        for _ in range(2):
            units = list(tile_units((64, 32), 1, 32))
            tasks = [Task(k, str(unit), worker.trace, (spec, (64, 32), unit), 1.0) for k, unit in enumerate(units)]
            assert sorted(task.index for task, _ in work.run(tasks, scene)) == [0, 1]
        assert work.add_payload(raystream.load("cornell")) == scene  # by its content
        assert work.sent == 1 and work.lost == 0 and len(work.drivers()) == 1


@pytest.mark.slow
def test_a_worker_hangs(
    scheduler: str, renderer: raystream.Renderer, alone: raystream.Picture, monkeypatch: Any
) -> None:
    """It is ended after the time that its unit may take, and what it was at is done by another one."""
    from distributed import Client

    from raystream.farm import task_scheduler

    monkeypatch.setattr(task_scheduler, "MIN_TIMEOUT", 2.0)
    monkeypatch.setattr(
        task_scheduler.TaskScheduler.__init__, "__kwdefaults__", {"mixed": False, "wait_timeout": 2.0, "notify": None}
    )
    monkeypatch.setattr(task_scheduler, "TIMEOUT_FACTOR", 2.0)
    told: list[str] = []
    with Client(scheduler, set_as_default=False) as client:
        pids = list(client.run(os.getpid).values())

        def hang(share: float | None, text: str) -> None:
            if share is not None and share > 0.1 and pids:
                os.kill(pids[0], signal.SIGSTOP)
                pids.clear()

        picture = render_on(renderer, scheduler, size=SIZE, spp=SPP, progress=hang, notify=told.append)
        client.wait_for_workers(2, timeout=120)
    same(picture.film, alone.film)
    assert len(told) == 1 and "does not answer" in told[0]

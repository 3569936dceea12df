"""The bar counted samples that were under way, and Ctrl-C then kept fewer; of the ray caster nothing was said."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest

import raystream
from raystream.film.error import Stop
from raystream.film.files.checkpoint import Checkpoint
from raystream.film.files.image import read_exr
from raystream.renderer.sampling import sampler
from raystream.renderer.sampling.picture_metadata import sample_settings
from raystream.renderer.session.session import Session

SIZE = (16, 8)


def test_stopped_amid_a_round(device: Any, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(sampler, "LARGEST_STREAM", SIZE[0] * SIZE[1] // 2)  # one half after the other
    renderer = raystream.Renderer("cornell", device=device, fuse="none", depth=1)
    clock = itertools.count(0.0, 10.0).__next__  # saving is worth its time, and never due
    state = Checkpoint(tmp_path / "a.exr", sample_settings(renderer), every=1e9, clock=clock)
    session = Session(renderer, SIZE, Stop(33), state=state)
    session.scheduler.batches = replace(
        session.scheduler.batches, seconds=1e9
    )  # one sample, then as many as may be, at any speed
    told: list[tuple[float, str]] = []

    def watch(share: float, text: str) -> None:
        told.append((share, text))
        if share > 0.37:  # eight samples are done, of the round from 1 to 17, and the next eight in the upper half
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        session.finish(progress=watch)
    header, channels = read_exr(tmp_path / "a.exr.state.exr")
    assert session.running and channels["film.count"].max() == 16
    assert channels["film.count"].min() == state.samples == int(header["samples"]) == 8
    assert told[-1][1] == "8 of 33 samples" and told[-1][0] < 1
    session.release()

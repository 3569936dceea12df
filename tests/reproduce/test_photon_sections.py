"""Sections on photon mapping: how the search ends, what the stencil counts, what the papers leave open, and what takes
longest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jinja2", reason="jinja2 is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from reproduction import photon_pictures
from reproduction.context import Context
from reproduction.report import described
from reproduction.sections import photon_pictures as sections
from reproduction.sections import photon_times, scenes
from reproduction.simulators.photons import route, stencil_count
from reproduction.timed import Spread, Timed

import raystream


@pytest.mark.parametrize("name", ["glass_ball", "ring"])
def test_a_search_for_all_photons_has_no_end_to_differ_by(name: str) -> None:
    """Of k beyond the number of photons both searches find those within the greatest radius; of the published k the
    exact one has a smaller radius."""
    renderer, (width, height), _ = photon_pictures.published(name)
    size = width // 32, height // 32
    few = photon_pictures.ends(renderer, size)
    renderer.update(nearest=1 << 16)
    found = photon_pictures.ends(renderer, size)
    renderer.release()
    assert found["enough"] == 0 and found["few"] > 0.99 and found["lit"] == pytest.approx(1, abs=1e-4)
    assert 0.1 < few["enough"] < 0.9 and few["few"] > 0.99 and few["same"] < 0.5 and few["lit"] < 0.9


def test_the_greatest_radius_is_the_estimate_s(device: Any) -> None:
    renderer = raystream.Renderer("ring", device=device, program="photon", estimate="published", machine="singlepass")
    renderer.render((8, 8), spp=1)
    uniforms = renderer.photon_map.uniforms(renderer.settings, renderer.camera, 8)
    renderer.release()
    assert photon_pictures.greatest_radius(renderer.scene) == pytest.approx(uniforms["estimate_reach"])


SENT = "Photons that leave the lights"


def test_what_a_scene_has_of_its_own_stands_with_what_is_open(tmp_path: Path) -> None:
    rows = described("photons_open", photon_bounces=8, **sections.chosen(Context(tmp_path)))
    (sent,), (reach,) = ([here for what, _, here in rows if what == of] for of in (SENT, "Greatest radius"))
    assert "GLASS BALL 4,096 + 5,690, RING 4,096 + 64,400, CORNELL BOX 74,900 + 6,410" in sent
    assert "1/20 of the scene's diagonal: GLASS BALL 0.0896 (longest side 1.1), RING 0.0709 (longest side 1)" in reach
    assert "CORNELL BOX 48 (longest side 559)" in reach


@pytest.mark.parametrize("wraps", [False, True])
def test_the_stencil_counts_to_255(wraps: bool) -> None:
    """As the texel that began as 0 would hold it, photon by photon."""
    for photons in (0, 3, 255, 256, 300, 600):
        value = 0
        for _ in range(photons):
            value = (value + 1) % 256 if wraps else min(value + 1, 255)
        assert stencil_count(photons, wraps) == value
    assert stencil_count(7) == 7 and len(set(route(7, 4).tolist()) - {-1}) == 7


def test_dark_pixels_take_longest(context: Context) -> None:
    found = sections.by_light(context, 8)
    there = sections._caustic(context, 8)
    _, shown, took = sections._estimates(there.points, there.albedo, there.photons, there.fixed)
    lit = shown[-1].max(axis=1) > 128
    assert 0 < lit.sum() < len(lit) and found == {"bright": np.median(took[lit]), "dark": np.median(took[~lit])}
    assert found["dark"] > found["bright"]


def test_what_is_not_timed_says_about_how_long_it_would_take() -> None:
    quad = Timed(Spread((1.0,)), Spread((1.0,)), {"seconds": Spread((7.0, 8.0, 9.0))})
    counted = {"GLASS BALL": {"quad": 4_000}, "CORNELL BOX": {"quad": 5_000}}
    rows = list(photon_times.untimed_rows("CORNELL BOX", {photon_times.QUAD: quad}, counted))
    assert [(row[1].published, row[1].ours, row[1].agrees) for row in rows] == [(104.0, None, None), (52.4, None, None)]
    assert all("would take about 10 s" in row[1].reason for row in rows)


def test_gains_are_those_at_the_same_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def runs(*each: tuple[float, float, float]) -> list[dict[str, float]]:
        return [dict(zip(("goal", "seconds", "error"), one, strict=True)) for one in each]

    off, on = runs((0.1, 4.0, 0.5), (0.1, 8.0, 0.5), (0.2, 3.0, 1.0)), runs((0.1, 2.0, 0.5), (0.2, 2.0, 1.0))
    path = tmp_path / "adaptive.json"
    path.write_text(json.dumps({"stops": {"x": {"goals": [0.1, 0.2], "off": off, "on": on}}}))
    monkeypatch.setattr(scenes, "ADAPTIVE", path)
    assert scenes.adaptive_gains() == pytest.approx([3.0, 1.5])
    (wish,) = (each for each in scenes.wishes(None) if "Adaptive" in getattr(each, "wish", ""))
    assert "in 1.5 to 3.0 times less CPU time" in wish.here

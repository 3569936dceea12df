"""What a picture keeps of how it was made: the remark on its photon map, its lights, its samples, its rule."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from raystream.renderer.sampling import picture_metadata
from raystream.stream.machines.counters import Stats


@pytest.fixture
def renderer(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(picture_metadata, "picture_facts", lambda renderer: {"program": "photon"})
    monkeypatch.setattr(picture_metadata, "sample_settings", lambda renderer: {"depends": "on this"})
    return SimpleNamespace(
        photon_map=SimpleNamespace(remark=lambda settings: f"no photon under {settings.name}"),
        settings=SimpleNamespace(name="these", environment=None),
        prepared=SimpleNamespace(lighting=SimpleNamespace(only_own_lights=True)),
    )


def film(count: Any, budget: float | None = None, error: float = 0.01234) -> Any:
    return SimpleNamespace(count=np.asarray(count, np.float32), sample_budget=budget, error=lambda: error)


def picture_of(renderer: Any, film: Any, reason: str = "") -> Any:
    return picture_metadata.picture(renderer, np.zeros((2, 3, 3), np.float32), film, Stats(), reason, 1.5)


def test_what_a_picture_of_samples_keeps(renderer: Any) -> None:
    picture = picture_of(renderer, film(np.full((2, 3), 4)), "noise")
    assert picture.photon_remark == "no photon under these" and picture.own_lights
    assert picture.depends == {"depends": "on this"}
    facts = {"size": "3x2", "program": "photon", "samples": "4", "stopped by": "noise", "estimated error": "0.0123"}
    assert picture.metadata == facts
    assert picture.stats.facts["seconds"] == 1.5 and picture.stats.facts["samples"] == 4


def test_lights_are_not_its_own_beside_an_environment(renderer: Any) -> None:
    renderer.settings.environment = "sky"
    assert not picture_of(renderer, film(np.full((2, 3), 1))).own_lights
    renderer.settings.environment, renderer.prepared.lighting.only_own_lights = None, False
    assert not picture_of(renderer, film(np.full((2, 3), 1))).own_lights


def test_samples_of_an_adaptive_picture_are_told_by_their_mean(renderer: Any) -> None:
    uneven = [[1, 2, 3], [4, 5, 7]]
    assert picture_of(renderer, film(uneven, budget=4.0)).metadata["samples"] == "3.7 (1 to 7)"
    assert picture_of(renderer, film(uneven)).metadata["samples"] == "1"
    assert picture_of(renderer, film(np.full((2, 3), 6), budget=6.0)).metadata["samples"] == "6"
    facts = picture_of(renderer, film(uneven, error=np.inf)).metadata
    assert "estimated error" not in facts and facts["stopped by"] == "nothing yet"


def test_a_picture_without_a_film_has_one_sample_and_no_remark(renderer: Any) -> None:
    picture = picture_of(renderer, None)
    assert picture.metadata == {"size": "3x2", "program": "photon", "samples": "1"} and not picture.photon_remark

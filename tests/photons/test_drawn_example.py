"""Figure 6.6 of Purcell 2004, the search as drawn: a photon is rejected when three are counted, and a fourth added, so
that it asks for three, not for the four that its caption says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from estimates import Estimates, photon_records

from raystream.photons.grid import PhotonGrid

# By cell: two in the place's own, one that widens the radius, one beyond it, one within.
DRAWN = [[1.8, 1.5], [1.5, 1.1], [0.9, 0.9], [1.5, 0.4], [2.05, 1.5]]


@pytest.mark.parametrize(("k", "counted", "radius"), [(3, 4, 0.72**0.5), (4, 5, 1.1)])
def test_the_drawn_search_asks_for_three(device: Any, k: int, counted: int, radius: float) -> None:
    grid = PhotonGrid.over((0, 0, 0), (3, 3, 1), (3, 3, 1))
    photons = photon_records(np.array([[*at, 0.5] for at in DRAWN]), np.ones((5, 3)))
    _, state = Estimates(device)(np.array([[1.5, 1.5, 0.5]]), photons, grid, photons=k, radius=9.0, exact=False)
    assert state["count"][0] == counted and np.sqrt(state["square"][0]) == pytest.approx(radius, rel=1e-5)

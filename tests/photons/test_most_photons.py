"""Whether the most photons of the options' ranges are within what a photon map numbers, other options being left."""

from __future__ import annotations

import numpy as np
import pytest

from raystream.options.table import OPTIONS
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.photon_map import Emission
from raystream.stream.declare.record import LARGEST_INTEGER

LEAST_SIDE = 8192  # of textures on hardware of the time of OpenGL 3.3


@pytest.mark.parametrize("name", ["photons", "caustic_photons"])
def test_the_end_of_each_range_is_rendered(name: str) -> None:
    """A range ended at 4,194,304, which the default number of surfaces refused."""
    settings = Settings().replace(**{name: OPTIONS[name].value.high})
    width, height = Emission.from_settings(settings, np.zeros((1, 4), np.float32)).size
    assert width * height <= LARGEST_INTEGER and max(width, height) <= LEAST_SIDE

"""Triangles of complex numbers lost their imaginary parts; those beyond float32 were infinite, or a bare exception."""

from __future__ import annotations

import numpy as np
import pytest

from raystream import Scene
from raystream.base.errors import ViewerError

CORNERS = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"vertices": np.array(CORNERS, complex)}, "vertices are complex128, expected real numbers"),
        ({"vertices": [[0, 0, 1j], *CORNERS[1:]]}, "vertices are complex128, expected real numbers"),
        ({"colors": [[1j, 0, 0]] * 3}, "colors are complex128, expected real numbers"),
        ({"base_color": (1j, 0, 0)}, "base_color are complex128, expected real numbers"),
        ({"vertices": [[10**400, 0, 0], *CORNERS[1:]]}, "vertices hold a number that is too large"),
        ({"vertices": [[1e39, 0, 0], *CORNERS[1:]]}, r"vertices hold a number that is too large \(beyond float32\)"),
        ({"normals": [[1e300, 0, 0]] * 3}, "normals hold a number that is too large"),
        ({"base_color": (0, 0, 1e39)}, "base_color hold a number that is too large"),
        ({"faces": [[0, 1, 2**70]]}, "faces hold a number that is too large"),
        ({"faces": np.array([[0, 1, 2**63]], np.uint64)}, "triangle 0 names vertices"),
    ],
)
def test_they_are_refused(change, words) -> None:
    with pytest.raises(ViewerError, match=words):
        Scene.from_triangles(**{"vertices": CORNERS, "faces": [[0, 1, 2]], **change})


def test_what_is_not_finite_by_itself_is_taken_as_in_files() -> None:
    scene = Scene.from_triangles([[np.inf, 0, 0], [np.nan, 0, 0], [0, 1, 3e38]], [[0, 1, 2]], base_color=(0.5, 0.25, 1))
    np.testing.assert_array_equal(scene.meshes[0].positions, np.float32([[np.inf, 0, 0], [np.nan, 0, 0], [0, 1, 3e38]]))
    assert scene.materials[0].base_color == (0.5, 0.25, 1.0, 1.0)

"""The renderer that tests of pictures share, where a file has none of its own."""

from __future__ import annotations

import pytest
from pictures import triangles_with_normals

from raystream import Renderer, Scene


@pytest.fixture(scope="module")
def scene() -> Scene:
    return triangles_with_normals()


@pytest.fixture(scope="module")
def renderer(scene: Scene) -> Renderer:
    """All machines can walk octants, so that they count the same steps."""
    return Renderer(scene, traversal="octants", program="cast")

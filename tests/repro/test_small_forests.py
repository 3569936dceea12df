"""A forest of few trees failed with a NumPy error, since path and clearing left no place for them on small ground."""

from __future__ import annotations

import pytest

from raystream.base.errors import ViewerError
from raystream.scene.builtin import forest


@pytest.mark.parametrize("trees", [0, 1, 20, 100])
def test_every_tree_stands(trees: int) -> None:
    scene = forest.build(trees=trees)
    assert len(scene.instances) == 1 + trees  # and the ground
    places = [tuple(instance.transform[[0, 2], 3]) for instance in scene.instances[1:]]
    assert len(set(places)) == trees
    assert all(forest._open_ground(x, z) <= 0 for x, z in places)


@pytest.mark.parametrize("trees", [-1, 1.5, "20", True, 10**9])
def test_what_is_no_number_of_trees(trees) -> None:
    with pytest.raises(ViewerError, match=r"forest: .* trees"):
        forest.build(trees=trees)

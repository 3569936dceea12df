"""The ground plane under a model: where it lies, how large it is, and that it stays there."""

from __future__ import annotations

import numpy as np

from raystream.scene import builtin
from raystream.scene.scene import Instance, Scene


def box(low: tuple[float, ...], high: tuple[float, ...]) -> Scene:
    """Two triangles across a box."""
    corners = np.array([low, high, (low[0], high[1], high[2]), (high[0], low[1], low[2])])
    return Scene.from_triangles(corners, [[0, 1, 2], [0, 1, 3]])


def test_size_is_in_heights_of_the_model_and_the_middle_stays() -> None:
    scene = box((-1.0, 3.0, 10.0), (3.0, 5.0, 11.0))  # 2 high
    grounded = scene.on_ground((1.5, 4.0))
    assert grounded.ground == 1 and grounded.triangle_count == 4
    assert grounded.bounds().tolist() == [[-1.0, 3.0, 6.5], [3.0, 5.0, 14.5]]
    flat = grounded.flatten()
    ground = flat.corners()[2:]
    assert (ground[..., 1] == 3.0).all()
    assert [ground[..., 0].min(), ground[..., 0].max()] == [-0.5, 2.5]
    assert (np.cross(ground[:, 1] - ground[:, 0], ground[:, 2] - ground[:, 0])[:, 1] > 0).all()  # it faces up
    assert grounded.materials[flat.materials[2]].name == "ground" and (flat.materials[:2] == 0).all()


def test_the_model_is_framed_and_not_its_ground() -> None:
    scene = box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    grounded = scene.on_ground()
    assert np.ptp(grounded.bounds(), axis=0).tolist() == [20.0, 1.0, 20.0]
    assert np.array_equal(grounded.bounds(ground=False), scene.bounds())
    assert grounded.camera() == scene.camera()


def test_wide_flat_and_empty_models() -> None:
    wide = box((0.0, 0.0, 0.0), (100.0, 1.0, 10.0)).on_ground()
    assert np.ptp(wide.bounds(), axis=0).tolist() == [500.0, 1.0, 500.0]
    sheet = box((0.0, 2.0, 0.0), (4.0, 2.0, 1.0)).on_ground((2, 3))  # its largest edge stands for its height
    assert sheet.bounds().tolist() == [[-2.0, 2.0, -5.5], [6.0, 2.0, 6.5]]
    for nothing in (Scene(), box((1.0, 1.0, 1.0), (1.0, 1.0, 1.0))):
        assert nothing.on_ground() is nothing


def test_on_and_off_again() -> None:
    scene = box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    assert scene.without_ground() is scene
    once = scene.on_ground((2, 2))
    assert once.on_ground((3, 3)) is once  # it keeps the one that it has
    assert once.without_ground() == scene
    once.instances.append(Instance(0, name="later"))
    again = once.without_ground()
    assert [each.name for each in again.instances] == ["", "later"] and again.ground is None


def test_what_moves_stands_over_one_ground() -> None:
    scene = builtin.build("balls")
    grounded, times = scene.on_ground((1, 1)), (0.0, 0.7, 2.9)
    number = grounded.ground
    assert number == len(scene.instances)
    still = grounded.instances[number].transform
    for seconds in times:
        posed = grounded.posed(seconds)
        assert np.array_equal(posed.instances[number].transform, still)
        # That of a scene which is put on the ground in mid-motion lies there, too.
        np.testing.assert_array_equal(scene.posed(seconds).on_ground((1, 1)).instances[number].transform, still)
        assert posed.bounds(ground=False)[0, 1] >= still[1, 3]

"""Models in classic glass on a plane, as the thesis shows them, and the built-in sphere."""

from __future__ import annotations

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.renderer.inputs.prepared import arranged
from raystream.renderer.inputs.settings import Settings
from raystream.scene import builtin
from raystream.scene.builtin.parts.shapes import boxes
from raystream.scene.edits.classic_plane import on_plane
from raystream.scene.edits.materials import decided_materials
from raystream.scene.scene import Scene


def box(**more) -> Scene:
    cube = boxes((-1, -1, -1), (1, 1, 1))
    return Scene.from_triangles(cube.positions, cube.triangles, **more)


@pytest.mark.parametrize("colored", [False, True])
def test_a_model_of_glass_on_tiles(colored: bool) -> None:
    scene = box(colors=np.ones((24, 3))) if colored else box(base_color=(0.2, 0.4, 0.6))
    made = on_plane(scene, (3.0, 3.0))
    assert made.triangle_count == scene.triangle_count + 2  # published: the bunny's 69,451 and 2 more
    assert made.ground == 1 and np.ptp(made.bounds(), axis=0).tolist() == [6.0, 2.0, 6.0]
    model, plane = (made.materials[instance.material or 0] for instance in made.instances)
    assert model.classic is not None and model.classic.transmittance > 0 and model.classic.vertex_colors is colored
    assert model.base_color[:3] == scene.materials[0].base_color[:3]
    assert plane.classic is not None and plane.classic.reflectivity > 0 and len(plane.layers) == 1
    assert made.camera() == scene.camera()
    assert arranged(made, Settings(classic=True, ground=(5.0, 5.0))) is made  # it has its plane already


def test_nothing_to_stand_on_a_plane() -> None:
    with pytest.raises(ViewerError, match=r"has no extent to put a plane under"):
        on_plane(Scene(name="empty"))


def test_the_sphere_has_what_was_published() -> None:
    scene = builtin.build("sphere")
    assert all(mesh.colors is not None and np.ptp(mesh.colors[:, :3]) > 0.2 for mesh in scene.meshes)
    own = [material.classic for material in decided_materials(scene)]
    assert all(each is not None and each.vertex_colors for each in own)
    assert any(each is not None and each.transmittance > 0 for each in own)
    assert any(material.layers for material in scene.materials)

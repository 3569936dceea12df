"""Scenes that deform, for tests: skinned tubes, morphing spheres, faceted boxes, and random poses of them."""

from __future__ import annotations

from dataclasses import replace

import meshes
import numpy as np
from numpy.typing import NDArray

from raystream.scene.deform import Deformation, DeformedMesh, MeshPose, MorphTarget
from raystream.scene.geometry.normals import with_normals
from raystream.scene.hierarchy import compose
from raystream.scene.material import Material
from raystream.scene.mesh import Instance, Mesh
from raystream.scene.scene import Scene
from raystream.scene.texture import Image, Texture


def tube(rings: int = 24, sides: int = 16, tangents: bool = False) -> Mesh:
    """An open tube along y from 0 to 4, of radius 0.4."""
    y, turn = np.meshgrid(np.linspace(0, 4, rings), np.linspace(0, 2 * np.pi, sides, endpoint=False), indexing="ij")
    out = np.stack([np.cos(turn), 0 * turn, np.sin(turn)], axis=-1).reshape(-1, 3)
    points = 0.4 * out + np.stack([0 * y, y, 0 * y], axis=-1).reshape(-1, 3)
    row, side = np.meshgrid(np.arange(rings - 1), np.arange(sides), indexing="ij")
    a, b = row * sides + side, row * sides + (side + 1) % sides
    faces = np.concatenate(
        [np.stack([a, a + sides, b], -1).reshape(-1, 3), np.stack([b, a + sides, b + sides], -1).reshape(-1, 3)]
    )
    uvs = np.stack([turn.ravel() / (2 * np.pi), y.ravel() / 4], axis=1)
    made = Mesh(points, faces, normals=out, uvs=uvs, name="tube")
    if tangents:
        along = np.stack([-np.sin(turn), 0 * turn, np.cos(turn)], axis=-1).reshape(-1, 3)
        made.tangents = np.concatenate([along, np.ones((len(along), 1))], axis=1).astype(np.float32)
    return made


def skin(mesh: Mesh, joints: int, influences: int, seed: int = 0) -> Deformation:
    """Each vertex follows joints at random, some fewer than others."""
    rng, count = np.random.default_rng(seed), len(mesh.positions)
    chosen = rng.integers(0, joints, (count, influences)).astype(np.int32)
    weights = rng.uniform(0, 1, (count, influences)) * (rng.uniform(size=(count, influences)) < 0.7)
    weights[:, 0] += 0.1
    weights /= weights.sum(axis=1, keepdims=True)
    return Deformation(chosen, weights.astype(np.float32))


def targets(mesh: Mesh, count: int, seed: int = 0, looks: bool = True) -> tuple[MorphTarget, ...]:
    """Displacements of parts of a mesh, of all attributes that it has."""
    rng = np.random.default_rng(seed)

    def change(values: NDArray | None, size: float, width: int | None = None) -> NDArray[np.float32] | None:
        if values is None:
            return None
        moved = rng.normal(size=(len(values), width or values.shape[1])) * size
        moved[rng.uniform(size=len(values)) < 0.5] = 0
        return moved.astype(np.float32)

    return tuple(
        MorphTarget(
            change(mesh.positions, 0.2),
            change(mesh.normals, 0.5),
            change(mesh.tangents, 0.5, 3) if looks else None,
            change(mesh.colors, 0.3) if looks else None,
            change(mesh.uvs, 0.2) if looks else None,
            change(mesh.uvs_1, 0.2) if looks else None,
        )
        for _ in range(count)
    )


def random_joints(count: int, seed: int, spread: float = 0.5) -> NDArray[np.float64]:
    """(count, 4, 4): turned, moved a little, scaled unevenly, one in five mirrored."""
    rng = np.random.default_rng(seed)
    scale = rng.uniform(0.6, 1.5, (count, 3)) * np.where(rng.uniform(size=count) < 0.2, -1, 1)[:, None]
    return compose(rng.uniform(-spread, spread, (count, 3)), rng.normal(size=(count, 4)), scale)


def skinned_tube(joints: int = 5, influences: int = 6, morphs: int = 0, looks: bool = False) -> DeformedMesh:
    """A tube that follows joints, after its targets."""
    mesh = tube(tangents=looks)
    if looks:
        rng = np.random.default_rng(4)
        mesh.colors = rng.uniform(0.2, 0.8, (len(mesh.positions), 4)).astype(np.float32)
        mesh.uvs_1 = rng.uniform(0, 1, (len(mesh.positions), 2)).astype(np.float32)
    own = skin(mesh, joints, influences)
    own = Deformation(own.joints, own.weights, targets(mesh, morphs, looks=looks))
    return DeformedMesh(mesh, own, MeshPose(np.tile(np.eye(4), (joints, 1, 1)), np.zeros(morphs)))


def faceted_ball(morphs: int = 2) -> DeformedMesh:
    """A sphere whose faces have their own vertices, and normals of the posed faces."""
    ball = meshes.icosphere(2)
    mesh = with_normals(Mesh(ball.points, ball.faces, name="ball"), 0.0)
    own = Deformation.none(len(mesh.positions))
    own = Deformation(own.joints, own.weights, targets(Mesh(mesh.positions, mesh.triangles), morphs), faceted=True)
    return DeformedMesh(mesh, own, MeshPose(weights=np.zeros(morphs)))


def random_pose(mesh: DeformedMesh, seed: int) -> MeshPose:
    """Of its joints and weights."""
    rng = np.random.default_rng(seed)
    joints = random_joints(len(mesh.pose.joints), seed) if len(mesh.pose.joints) else mesh.pose.joints
    return MeshPose(joints, rng.uniform(-1, 1, len(mesh.pose.weights)))


def scene(*deforming: DeformedMesh) -> Scene:
    """These meshes side by side, each twice if no joint takes it to the world, on a box that stands still."""
    box = meshes.box()
    still = Mesh(box.points, box.faces, name="box")
    materials = [Material("plain", (0.7, 0.6, 0.5, 1.0)), Material("floor", (0.3, 0.4, 0.5, 1.0))]
    placed = [Instance(0, compose([[0, -1.5, 0]], [[0, 0, 0, 1]], [[4, 0.2, 4]])[0], 1, "floor")]
    for number, mesh in enumerate(deforming, 1):
        placed.append(Instance(number, name=mesh.name))
        if not mesh.deformation.skinned:
            turned = compose([[2.5, 0.4, number]], [[0.1, 0.3, 0.2, 1]], [[0.8, 1.1, 0.7]])[0]
            placed.append(Instance(number, turned, 1, f"{mesh.name} again"))
    return Scene([still, *deforming], placed, materials, name="deforming")


def posed(base: Scene, seed: int) -> Scene:
    """All deforming meshes in random poses."""
    poses = {k: random_pose(mesh, seed + k) for k, mesh in enumerate(base.meshes) if isinstance(mesh, DeformedMesh)}
    return base.deformed(poses)


def with_normal_map(base: Scene) -> Scene:
    """The scene with a texture of bumps on its first material."""
    texels = np.full((4, 4, 4), 128, np.uint8)
    texels[..., 2:], texels[::2, :, 0] = 255, 160
    bumps = Texture(Image(texels), content="normal")
    return base.with_parts(
        materials=[replace(base.materials[0], kind="principled", normal_texture=0), *base.materials[1:]],
        textures=[bumps],
    )

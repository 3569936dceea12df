"""Where points of deforming objects were in the picture before: the flow of pixels against the reference's vertices,
and previews of a limb that moves."""

from __future__ import annotations

import deforming
import numpy as np
import pytest
from numpy.typing import NDArray

from raystream import Renderer, Scene
from raystream.denoise.records import LIT, view_uniforms
from raystream.film.device_film import FilmBuffer
from raystream.kernels.records import FEATURES
from raystream.renderer.inputs.prepared import prepare
from raystream.renderer.preview.frame import FrameClock, FrameJob
from raystream.renderer.preview.motion import PosedMotion, of_motion
from raystream.renderer.preview.preview import Preview
from raystream.renderer.preview.scheduler import FrameKind, ScheduledFrame, Scheduler
from raystream.renderer.sampling.sampler import FramePlan
from raystream.scene.camera import Camera
from raystream.scene.deform import MeshPose
from raystream.stream.gl.device import Device
from raystream.stream.gl.resources import Arena
from raystream.stream.gl.stream import Stream

SIZE = 60, 44
CAMERA = Camera((1.5, 3.0, 9.0), (0.5, 1.5, 0.5))


def pixels(renderer: Renderer) -> tuple[NDArray, NDArray, NDArray]:
    """`LIT` and `FEATURES` of the pixels' centres, and the hits' barycentric coordinates (H, W, 2)."""
    view = {name: np.array(value) for name, value in view_uniforms(CAMERA, SIZE).items()}
    row, column = np.indices(SIZE[::-1])[..., None]
    through = view["view_corner"] + column * view["view_dx"] + row * view["view_dy"]
    hits = renderer.trace(np.tile(CAMERA.origin, (row.size, 1)), through.reshape(-1, 3), view=True)
    shape, seen = SIZE[::-1], hits.triangle >= 0
    lit, features = np.zeros(shape, LIT.dtype), np.zeros(shape, FEATURES.dtype)
    lit["nearness"] = np.where(seen, 1 / hits.distance, 0).reshape(shape)
    lit["normal"] = (0, 0, 1)
    first = renderer.prepared.starts[np.maximum(hits.instance, 0)]
    features["triangle"] = np.where(seen, hits.triangle - first, -1).reshape(shape)
    features["instance"] = np.where(seen, hits.instance, 0).reshape(shape)
    return lit, features, hits.barycentrics.reshape(*shape, 2)


def flow(renderer: Renderer, motion: PosedMotion, scene: Scene, then: Scene) -> tuple[NDArray, NDArray, NDArray]:
    """`FLOW` of pixels that see one scene after the other was seen; and what they see."""
    with renderer.device.current():
        for each in (then, scene):
            renderer.update(each)
            renderer.gpu_scene.resources.update_computed_tables()
            motion.advance()
            motion.save_vertices(renderer.gpu_scene)
    lit, features, weights = pixels(renderer)
    with renderer.device.current():
        streams = [Stream(renderer.device, record, SIZE) for record in (LIT, FEATURES)]
        for stream, records in zip(streams, (lit, features), strict=True):
            stream.write(records)
        made = motion.flow(renderer.gpu_scene, *streams, CAMERA)
        assert made is not None
        return made.read(), features, weights


def expected(scene: Scene, then: Scene, features: NDArray, weights: NDArray) -> NDArray[np.float64]:
    """(H, W, 3): from the point that a pixel sees to where it was, by float64 vertices."""
    found = np.zeros((*features.shape, 3))
    for at in np.ndindex(features.shape):
        if features["triangle"][at] < 0:
            continue
        instance = scene.instances[features["instance"][at]]
        now, before = scene.meshes[instance.mesh], then.meshes[instance.mesh]
        corners = now.triangles[features["triangle"][at]]
        b, c = weights[at]
        share = np.array([1 - b - c, b, c])
        change = before.positions[corners].astype(float) - now.positions[corners]
        found[at] = instance.transform[:3, :3] @ (share @ change)
    return found


@pytest.fixture(scope="module")
def renderer(device: object) -> Renderer:
    return Renderer(deforming.scene(deforming.skinned_tube(), deforming.faceted_ball()), program="cast")


def bent(base: Scene, angle: float) -> Scene:
    """Every joint turned a little more than the one before, and the ball's first target grown."""
    joints = len(base.meshes[1].pose.joints)
    turns = [[0, 0, np.sin(k * angle / 2), np.cos(k * angle / 2)] for k in range(joints)]
    matrices = deforming.compose(np.zeros((joints, 3)), turns, np.ones((joints, 3)))
    return base.deformed(
        {1: MeshPose(matrices, base.meshes[1].pose.weights), 2: MeshPose(weights=np.array([angle, 0]))}
    )


def test_points_are_followed_to_the_pose_before(renderer: Renderer) -> None:
    base = renderer.scene
    then, now = bent(base, 0.02), bent(base, 0.1)
    with renderer.device.current():
        motion = PosedMotion(renderer.device)
    made, features, weights = flow(renderer, motion, now, then)
    wanted = expected(now, then, features, weights)
    moves = np.linalg.norm(wanted, axis=-1) > 0.02
    assert moves.sum() > 150  # pixels that see the tube or the ball
    # of places of some units, which float32 rays hit
    np.testing.assert_allclose(made["shift"], wanted, atol=2e-5)
    still = features["instance"] == 0  # the box, which is no deforming object
    assert (made["shift"][still] == 0).all() and (made["normal_change"][still] == 0).all()
    with renderer.device.current():
        motion.release()


def ages(scenes: list[Scene], size: tuple[int, int] = SIZE) -> tuple[NDArray, NDArray]:
    """Of the light of the last of these pictures, samples that stand for a pixel, and the instances that are seen."""
    renderer = Renderer(scenes[0], program="path", machine="singlepass", denoise="auto")
    preview, films = Preview(renderer, FrameClock(renderer.device, Scheduler())), []
    for number, scene in enumerate(scenes):
        renderer.update(scene, camera=CAMERA)
        with renderer.device.current():
            films.append(FilmBuffer(renderer.device, size))
        plan = FramePlan(of_motion(renderer.settings), renderer.camera, size, samples=1, first_sample=number)
        tiles = renderer.sampler.render_tiles(plan, films[-1])
        frame = ScheduledFrame(FrameKind.FLIGHT, size, 1.0, 1, 1, budget=1.0)
        for _ in preview.frame(FrameJob(frame, CAMERA, films[-1], first=number), tiles, size, 1):
            pass
    with renderer.device.current():
        made = preview.passes.finished().history._now.streams["past"].read()
        for film in films:
            film.release()
    preview.release()
    renderer.release()
    return made["age"], made["instance"]


def test_a_limb_that_moves_takes_its_light_along(renderer: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    scenes = [bent(renderer.scene, 0.05 * number) for number in range(4)]
    age, instance = ages(scenes)
    tube = instance == 1
    assert tube.sum() > 80
    # Faces of neighbours that follow other joints are slivers, which are seen by few pixels.
    followed = (age[tube] > 1.5).mean()
    monkeypatch.setattr(PosedMotion, "flow", lambda *_: None)
    lost, other = ages(scenes)
    assert (lost[other == 1] == 1).all(), "without the pose before there is no past"
    assert followed > 0.4 and (age[instance == 0] > 1.5).mean() > 0.6


def test_an_upload_brings_what_passes_read_of_what_deforms(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the first picture packs it, all at once; a scene that is not shown leaves none of it."""
    shown = Renderer(Scene.from_triangles(np.eye(3), [[0, 1, 2]]), device=device, program="cast")
    coming = prepare(deforming.scene(deforming.skinned_tube(morphs=1), deforming.faceted_ball()), shown.settings)
    with device.current():
        held = len(shown.gpu_scene.resources.arena.tables())
        for _ in shown.gpu_scene.upload(shown.settings, coming):
            pass
        shown.gpu_scene.discard(coming)
        assert len(shown.gpu_scene.resources.arena.tables()) == held
        for _ in shown.gpu_scene.upload(shown.settings, coming):
            pass
        shown.update(coming)
        monkeypatch.setattr(Arena, "add", lambda _, table: pytest.fail(f"{table.name} is packed by a picture"))
        shown.render((16, 16), spp=1)
    shown.release()

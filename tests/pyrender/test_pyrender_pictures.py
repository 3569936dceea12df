"""Colour of raystream.pyrender: its light, its background, its flat colours."""

from __future__ import annotations

import numpy as np
import pytest
from rasteriser import at, ball, rasterise, square

from raystream.pyrender import (
    GLTF,
    DirectionalLight,
    IntrinsicsCamera,
    MetallicRoughnessMaterial,
    OrthographicCamera,
    PerspectiveCamera,
    PointLight,
    RenderFlags,
    Sampler,
    Scene,
    SpecularGlossinessMaterial,
    SpotLight,
    Texture,
)
from raystream.scene.material import Material

MATTE = {"metallicFactor": 0.0, "roughnessFactor": 1.0}
CAMERAS = [
    PerspectiveCamera(1.0),
    PerspectiveCamera(1.0, aspectRatio=2.0),
    OrthographicCamera(1.5, 1.5),
    IntrinsicsCamera(40.0, 50.0, 21.0, 13.0),
]


def facing(material, *lights, ambient=0.0):
    """A square that fills the picture, 2 before the camera."""
    scene = Scene(ambient_light=[ambient] * 3)
    scene.add(square(9.0, material=material), pose=at(0, 0, -2))
    scene.add(PerspectiveCamera(0.5))
    for light, pose in lights:
        scene.add(light, pose=pose)
    return scene


def radiance(color):
    """Of bytes, in linear sRGB (IEC 61966-2-1)."""
    value = np.asarray(color, np.float64) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


@pytest.mark.parametrize(
    ("light", "pose", "irradiance"),
    [
        (DirectionalLight(intensity=1.5), at(0, 0, 0), 1.5),
        (DirectionalLight(intensity=1.5), at(0, 0, 0, (np.pi / 3, 0, 0)), 0.75),
        (PointLight(intensity=6.0), at(0, 0, 0), 1.5),
        (SpotLight(intensity=6.0, innerConeAngle=0.5, outerConeAngle=0.6), at(0, 0, 0), 1.5),
        (SpotLight(intensity=6.0, innerConeAngle=0.1, outerConeAngle=0.2), at(0, 0, 0, (0.6, 0, 0)), 0.0),
    ],
)
def test_lights_are_as_bright_as_there(light, pose, irradiance, offscreen):
    """A matte surface of albedo a reflects a / pi of the light that falls on it, of each unit and kind."""
    scene = facing(MetallicRoughnessMaterial(baseColorFactor=[0.6, 0.3, 0.15, 1], **MATTE), (light, pose))
    color, depth = offscreen(5, 5, spp=4).render(scene)
    wanted = np.array([0.6, 0.3, 0.15]) * irradiance / np.pi
    np.testing.assert_allclose(radiance(color[2, 2]), wanted, rtol=0.12, atol=0.03 * irradiance)  # its gloss besides
    assert depth[2, 2] == pytest.approx(2.0)


def test_ambient_light_comes_from_all_sides(offscreen):
    """And is not seen behind."""
    scene = facing(MetallicRoughnessMaterial(baseColorFactor=[0.5, 0.25, 0.125, 1], **MATTE), ambient=0.8)
    color, _ = offscreen(4, 4, spp=64).render(scene)
    np.testing.assert_allclose(radiance(color).mean(axis=(0, 1)), [0.4, 0.2, 0.1], rtol=0.1, atol=0.02)
    scene = Scene(bg_color=[10, 20, 30], ambient_light=[1.0, 1.0, 1.0])
    scene.add(ball(0.2), pose=at(0, 0, -2))
    scene.add(PerspectiveCamera(1.0))
    assert offscreen(8, 8, spp=2).render(scene)[0][0, 0].tolist() == [10, 20, 30]


@pytest.mark.parametrize("camera", CAMERAS, ids=["square", "aspect", "parallel", "intrinsics"])
def test_colour_is_where_depth_is(camera, things, offscreen):
    """Of all cameras: covered where the rasteriser finds a surface, but for edges; and none of it elsewhere."""
    scene, size = things(camera), (48, 32)
    scene.bg_color = [0.0, 0.0, 0.0, 0.0]
    color, _ = offscreen(*size, spp=16).render(scene, RenderFlags.FLAT | RenderFlags.RGBA)
    assert color.shape == (32, 48, 4) and color.dtype == np.uint8
    wanted = rasterise(scene, size)[0] > 0
    covered = color[..., 3] / 255
    around = [wanted[1 + y : 31 + y, 1 + x : 47 + x] for x in (-1, 0, 1) for y in (-1, 0, 1)]
    inside, outside = np.all(around, axis=0), ~np.any(around, axis=0)
    assert (covered[1:-1, 1:-1][inside] == 1).all() and (covered[1:-1, 1:-1][outside] == 0).all()
    assert not color[covered == 0].any()


def test_background_is_before_no_light(offscreen):
    """As displayed, without a tone map, and with its own opacity."""
    scene = Scene(bg_color=[0.25, 0.5, 0.75, 0.5])
    scene.add(square(0.5), pose=at(0, 0, -2))
    scene.add(PerspectiveCamera(1.0))
    renderer = offscreen(9, 9, spp=2)
    assert renderer.render(scene)[0][0, 0].tolist() == [64, 128, 191]
    color, _ = renderer.render(scene, RenderFlags.RGBA)
    assert color[0, 0].tolist() == [64, 128, 191, 128] and color[4, 4].tolist() == [0, 0, 0, 255]


def test_flat_colours_are_bytes(offscreen):
    """Factors and colours of vertices as they are, textures with their rows from the top."""
    image = np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [90, 90, 90]]], np.uint8)
    texture = Texture(source=image, source_channels="RGB", sampler=Sampler(magFilter=9728, minFilter=9728))
    scene = Scene(ambient_light=[1.0, 1.0, 1.0])
    scene.add(square(9.0, material=MetallicRoughnessMaterial(baseColorTexture=texture)), pose=at(0, 0, -8))
    scene.add(square(0.5, color_0=[[0.2, 0.4, 0.6, 1]] * 4), pose=at(-1, 0, -2))
    scene.add(square(0.5, material=MetallicRoughnessMaterial(baseColorFactor=[0.5, 0.1, 1, 1])), pose=at(1, 0, -2))
    scene.add(PerspectiveCamera(2 * np.arctan(0.5)))
    color = offscreen(16, 8).render(scene, RenderFlags.FLAT)[0]
    np.testing.assert_allclose(color[3, [4, 11]], [[51, 102, 153], [128, 26, 255]], atol=1)
    corners = color[[1, 1, 6, 6], [6, 9, 6, 9]]
    assert corners.tolist() == [[255, 0, 0], [0, 255, 0], [0, 0, 255], [90, 90, 90]]


def test_a_mesh_in_the_place_of_another_leaves_its_neighbour(offscreen):
    """Each keeps its own material, whatever its number is by then."""
    red, green, blue = (square(0.5, material=MetallicRoughnessMaterial(baseColorFactor=[*row, 1])) for row in np.eye(3))
    scene, renderer = Scene(), offscreen(16, 8)
    scene.add(PerspectiveCamera(2 * np.arctan(0.5)))
    first = scene.add(red, pose=at(-1, 0, -2))
    scene.add(green, pose=at(1, 0, -2))
    colors = [renderer.render(scene, RenderFlags.FLAT)[0][3, [4, 11]].tolist()]
    scene.remove_node(first)
    scene.add(blue, pose=at(-1, 0, -2))
    colors.append(renderer.render(scene, RenderFlags.FLAT)[0][3, [4, 11]].tolist())
    assert colors == [[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [0, 255, 0]]]


def test_wrap_modes_are_of_their_axes(offscreen):
    """Repeated to the right, clamped upwards; and the other way around."""
    image = np.array([[[250, 0, 0], [0, 250, 0]], [[0, 0, 250], [90, 90, 90]]], np.uint8)  # its last row is at v = 0
    rows = {"lower": [[0, 0, 250], [90, 90, 90]], "upper": [[250, 0, 0], [0, 250, 0]]}
    modes = GLTF.REPEAT, GLTF.CLAMP_TO_EDGE
    renderer = offscreen(4, 4)
    for wrap_s, wrap_t in (modes, modes[::-1]):
        sampler = Sampler(magFilter=GLTF.NEAREST, minFilter=GLTF.NEAREST, wrapS=wrap_s, wrapT=wrap_t)
        texture = Texture(source=image, source_channels="RGB", sampler=sampler)
        mesh = square(2.0, material=MetallicRoughnessMaterial(baseColorTexture=texture))
        mesh.primitives[0].texcoord_0 = 2 * mesh.primitives[0].texcoord_0  # two repetitions either way
        scene = Scene()
        scene.add(mesh)
        scene.add(OrthographicCamera(1, 1), pose=at(0, 0, 2))
        color = renderer.render(scene, RenderFlags.FLAT)[0]
        columns = [0, 1, 0, 1] if wrap_s == GLTF.REPEAT else [0, 1, 1, 1]
        for row, name in enumerate(("upper", "lower") * 2 if wrap_t == GLTF.REPEAT else ("upper",) * 3 + ("lower",)):
            assert color[row].tolist() == [rows[name][column] for column in columns], (wrap_s, row)


def test_opacity(offscreen):
    """BLEND lets light pass; MASK, the default, cuts holes out of textures and leaves factors alone."""
    image = np.zeros((2, 2, 4), np.uint8)
    image[..., :3], image[:, 0, 3] = 255, 255
    holes = {"baseColorTexture": Texture(source=image, source_channels="RGBA", sampler=Sampler(9728, 9728, 9728))}
    shares = []
    for more in (
        {"baseColorFactor": [1, 1, 1, 0.25]},
        {"baseColorFactor": [1, 1, 1, 0.25], "alphaMode": "BLEND"},
        holes,
    ):
        scene = Scene(bg_color=[0, 0, 0, 0])
        scene.add(square(9.0, material=MetallicRoughnessMaterial(**more)), pose=at(0, 0, -2))
        scene.add(PerspectiveCamera(0.5))
        color, depth = offscreen(8, 8, spp=32).render(scene, RenderFlags.FLAT | RenderFlags.RGBA)
        shares.append([color[:, half, 3].mean() / 255 for half in (slice(0, 4), slice(4, 8))])
        assert (depth == 2).all()
    np.testing.assert_allclose(shares, [[1, 1], [0.25, 0.25], [1, 0]], atol=0.06)


def test_pictures_come_denoised(offscreen):
    """Off the converged picture by less than with twice the samples, and no denoiser."""
    scene = Scene(ambient_light=[0.3] * 3)
    scene.add(ball(0.5, 32, material=MetallicRoughnessMaterial(**MATTE)), pose=at(0, 0, -2))
    scene.add(square(3.0, material=MetallicRoughnessMaterial(**MATTE)), pose=at(0, 0, -3))
    scene.add(PerspectiveCamera(1.0))
    for side in (-0.6, 0.6):
        scene.add(DirectionalLight(intensity=2.0), pose=at(0, 0, 0, (0, side, 0)))
    size = 80, 60
    truth = offscreen(*size, spp=256, denoise="none").render(scene)[0].astype(float)
    plain, clean = offscreen(*size, spp=16, denoise="none").render(scene)[0], offscreen(*size).render(scene)[0]
    errors = [np.sqrt(np.square(each - truth).mean()) for each in (plain, clean)]
    assert errors[1] < 0.8 * errors[0], errors


def test_specular_glossiness(offscreen):
    """The reflectance at normal incidence, in ambient light; a texture's opacity is its glossiness."""
    material = SpecularGlossinessMaterial(diffuseFactor=[0, 0, 0, 1], specularFactor=[0.5, 0.25, 0.125])
    color, _ = offscreen(4, 4, spp=16).render(facing(material, ambient=1.0))
    np.testing.assert_allclose(radiance(color).mean(axis=(0, 1)), [0.5, 0.25, 0.125], rtol=0.05, atol=0.01)
    from raystream.pyrender.conversion import Textures, lit_material

    gloss = np.full((1, 1, 4), 200, np.uint8)
    gloss[..., 3] = 51
    material = SpecularGlossinessMaterial(glossinessFactor=0.5, specularGlossinessTexture=gloss)
    textures = Textures()
    made = lit_material(square(material=material).primitives[0], True, textures)
    assert made.roughness == 1 and made.metallic_roughness_texture is not None
    assert textures.textures[made.metallic_roughness_texture].image.texels[0, 0, 1] == round(255 * (1 - 0.5 * 0.2))
    assert isinstance(made, Material)


def test_flat_colours_are_interpolated_as_bytes(offscreen):
    """Between two vertices, and between two texels, as a rasteriser without sRGB has it."""
    between = square(2.0, color_0=[[0.0, 0, 0, 1], [1, 0, 0, 1], [1, 0, 0, 1], [0, 0, 0, 1]])
    texels = np.array([[[0, 0, 0], [200, 0, 0]]], np.uint8)
    sampler = Sampler(magFilter=GLTF.LINEAR, wrapS=GLTF.CLAMP_TO_EDGE)
    image = MetallicRoughnessMaterial(baseColorTexture=Texture(sampler=sampler, source=texels))
    for mesh, most in ((between, 255), (square(2.0, material=image), 200)):
        scene = Scene()
        scene.add(mesh)
        scene.add(OrthographicCamera(1, 1), pose=at(0, 0, 2))
        color, _ = offscreen(8, 8).render(scene, RenderFlags.FLAT)
        columns = (np.arange(8) + 0.5) / 8
        wanted = columns if most == 255 else np.clip(2 * columns - 0.5, 0, 1)
        np.testing.assert_allclose(color[4, :, 0], most * wanted, atol=most / 16 + 1)

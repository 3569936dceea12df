"""Texture lookups on the device against a float64 twin, the memory of texels, and textured scenes."""

from __future__ import annotations

import glsl_call
import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.cli import report
from raystream.lighting.emitters import emitters, shares
from raystream.materials.textures import BLOCK, FLAGS, textures
from raystream.renderer.renderer import Renderer
from raystream.scene.camera import Camera
from raystream.scene.edits.mipmaps import mip_levels
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import MINIFICATIONS, WRAPS, Image, Texture, linear_from_srgb, uv_transform
from raystream.stream.compile.memories import memory_glsl
from raystream.stream.declare.kernel import Texels
from raystream.stream.gl.memory import IN_BUFFER, Memory, layout

LOOKUP = "vec3 texture_color(int number, vec3 place)"
# Decoding takes a power, which drivers compute by an approximate logarithm: good to about 2^-18 of the value here.
DECODED = 4e-6

SHARP = -1e3  # the log2 of no footprint


def picture(width: int, height: int, seed: int = 0, kind: type = np.uint8) -> Image:
    random = np.random.default_rng(seed)
    if kind is np.float16:
        return Image((random.normal(size=(height, width, 4)) * 2.0 ** random.integers(-24, 12, 4)).astype(np.float16))
    return Image(random.integers(0, np.iinfo(kind).max + 1, (height, width, 4), kind), f"{width} x {height}")


def places(uv: np.ndarray, footprint: np.ndarray | float = SHARP) -> np.ndarray:
    return np.column_stack([uv, np.broadcast_to(footprint, len(uv))]).astype(np.float32)


def wrap(index: np.ndarray, size: int, way: str) -> np.ndarray:
    """Texel numbers brought back into 0 .. size - 1, by NumPy's own padding modes."""
    mode = {"repeat": "wrap", "mirrored": "symmetric", "clamp": "edge"}[way]
    far = 40
    padded = np.pad(np.arange(size), far * size, mode=mode)
    return padded[index + far * size]


def values_of(texels: np.ndarray, content: str) -> np.ndarray:
    """(H, W, 4) float64."""
    if texels.dtype == np.float16:
        return texels.astype(np.float64)
    values = texels / np.iinfo(texels.dtype).max
    if content == "color":
        values[..., :3] = linear_from_srgb(values[..., :3])
    return values


def lookup(texture: Texture, uv: np.ndarray, texels: np.ndarray | None = None, nearest: bool | None = None):
    """(N, 4) float64: the twin, in these texels of a level."""
    uv = np.column_stack([uv.astype(np.float64), np.ones(len(uv))]) @ texture.transform.T
    linear = values_of(texture.image.texels if texels is None else texels, texture.content)
    height, width = linear.shape[:2]
    place = uv * (width, height)
    if texture.nearest if nearest is None else nearest:
        column, row = (np.floor(place[:, k]).astype(int) for k in (0, 1))
        return linear[wrap(row, height, texture.wrap[1]), wrap(column, width, texture.wrap[0])]
    place -= 0.5
    low = np.floor(place).astype(int)
    share = place - low
    total = np.zeros((len(uv), 4))
    for right in (0, 1):
        for down in (0, 1):
            weight = np.where(right, share[:, 0], 1 - share[:, 0]) * np.where(down, share[:, 1], 1 - share[:, 1])
            column = wrap(low[:, 0] + right, width, texture.wrap[0])
            row = wrap(low[:, 1] + down, height, texture.wrap[1])
            total += weight[:, None] * linear[row, column]
    return total


def lookups(device, found: list[Texture], numbers, where: np.ndarray, color: bool = True) -> np.ndarray:
    """What a lookup gives on the device."""
    signature = "vec4 texture_texel(int number, vec3 place, vec3 second, bool color)"
    function = glsl_call.Function(device, signature, modules=[textures(found)])
    return function(numbers, where, np.zeros_like(where), np.full(len(where), color))[0]


@pytest.mark.parametrize("nearest", [False, True], ids=["bilinear", "nearest"])
def test_lookups(device, nearest):
    found = [
        Texture(picture(*size, seed), (across, down), nearest)
        for seed, size in enumerate([(1, 1), (2, 5), (37, 61), (256, 1)])
        for across in WRAPS
        for down in WRAPS
    ]
    random = np.random.default_rng(1)
    count = 600
    uv = random.uniform(-4, 5, (count, 2)).astype(np.float32)
    numbers = np.repeat(np.arange(len(found)), count)
    color = lookups(device, found, numbers, np.tile(places(uv), (len(found), 1)))
    for number, texture in enumerate(found):
        width, height = texture.image.size
        want = lookup(texture, uv)
        got = color[number * count : (number + 1) * count]
        # A coordinate of up to 5 is rounded at 2^-22 of a period: that many texels of an error in a share.
        slack = 2.0**-21 * (width + height) + DECODED
        place = uv * (width, height)
        sure = (np.abs(place - np.round(place)) > 1e-4).all(axis=1) if nearest else np.ones(count, bool)
        assert np.abs(got - want)[sure].max() <= slack, (texture.image.name, texture.wrap)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.float16])
@pytest.mark.parametrize("content", ["color", "data"])
def test_texels_keep_their_precision(device, kind, content):
    """Nearest texels of images of every type, all in one memory; of data they are exact."""
    texture = Texture(picture(16, 9, 4, kind), nearest=True, content=content)
    found = [Texture(picture(3, 3)), texture, Texture(picture(5, 4, 1, np.uint16))]
    row, column = np.indices((9, 16))
    uv = np.column_stack([(column.ravel() + 0.5) / 16, (row.ravel() + 0.5) / 9])
    want = values_of(texture.image.texels, content).reshape(-1, 4)
    got = lookups(device, found, np.ones(len(uv)), places(uv))
    # Divisions are rounded; halfs are floats of their own.
    slack = 0.0 if kind is np.float16 else 2.0**-23 if content == "data" else DECODED
    assert np.abs(got - want).max() <= slack
    if content == "data":
        np.testing.assert_array_equal(lookups(device, found, np.ones(len(uv)), places(uv), color=False), got)


def test_levels_and_filters(device):
    """Every minification filter: the level is the footprint's log2 in texels, with the random number that comes with
    it, rounded down; lookups within it as in the image."""
    image = picture(40, 21, 5)
    found = [
        Texture(image, ("mirrored", "clamp"), nearest, minification=name)
        for nearest in (False, True)
        for name in MINIFICATIONS
    ]
    chain = [image.texels, *mip_levels(image, "color")]
    random = np.random.default_rng(6)
    count = 400
    uv = random.uniform(-1, 2, (count, 2)).astype(np.float32)
    texels = random.uniform(-2, len(chain) + 2, count)  # log2 of those under the ray
    texels = np.where(np.abs(texels - np.round(2 * texels) / 2) < 1e-3, texels + 0.01, texels)
    where = places(uv, texels - 0.5 * np.log2(40 * 21))
    got = lookups(device, found, np.repeat(np.arange(len(found)), count), np.tile(where, (len(found), 1)))
    for number, texture in enumerate(found):
        nearest, mipmaps = MINIFICATIONS[texture.minification]
        level = np.clip(np.floor(texels), 0, len(chain) - 1).astype(int) * mipmaps
        for chosen in range(len(chain)):
            for small in (False, True):
                rows = (level == chosen) & ((texels >= 0.5) == small)
                if not rows.any():
                    continue
                want = lookup(texture, uv[rows], chain[chosen], nearest if small else texture.nearest)
                place = uv[rows].astype(float) * chain[chosen].shape[1::-1]
                sure = (np.abs(place - np.round(place)) > 1e-4).all(axis=1)
                error = np.abs(got[number * count : (number + 1) * count][rows] - want)[sure]
                assert not error.size or error.max() <= 2.0**-21 * 61 + DECODED, (texture.minification, chosen)


def test_second_textures_are_apart(device):
    """An image that holds colours for one texture and data for another has levels of both, and is looked up as each."""
    image = picture(8, 8, 7)
    found = [Texture(image), Texture(image, content="data")]
    where = places(np.full((2, 2), 0.5), 10.0)
    got = lookups(device, found, [0, 1], where)
    want = [values_of(image.texels, texture.content).mean(axis=(0, 1)) for texture in found]
    np.testing.assert_allclose(got, want, atol=3 * 0.53 / 255)  # rounded at each of three levels


def test_bilinear_lookups_agree_with_pillow(device):
    """Pillow's enlargement by triangles is bilinear interpolation between the middles of texels, with clamped edges."""
    from PIL import Image as Pillow

    image = picture(9, 7, 3)
    linear = linear_from_srgb(image.texels[..., :3] / 255.0).astype(np.float32)
    larger = (9 * 8, 7 * 8)
    want = np.stack(
        [
            np.asarray(Pillow.fromarray(np.ascontiguousarray(linear[..., k]), "F").resize(larger, Pillow.BILINEAR))
            for k in range(3)
        ],
        axis=-1,
    )
    y, x = np.mgrid[: larger[1], : larger[0]]
    uv = np.stack([(x.ravel() + 0.5) / larger[0], (y.ravel() + 0.5) / larger[1]], axis=1)
    function = glsl_call.Function(device, LOOKUP, modules=[textures([Texture(image, ("clamp", "clamp"))])])
    (color,) = function(np.zeros(len(uv)), places(uv))
    np.testing.assert_allclose(color.reshape(want.shape), want, rtol=0, atol=2e-5)  # Pillow's weights are rounded, too


def test_transforms(device):
    """Khronos' own example of KHR_texture_transform turns by a right angle: u becomes v."""
    np.testing.assert_allclose(uv_transform((0, 1), np.pi / 2, (0.5, 0.25)), [[0, 0.25, 0], [-0.5, 0, 1]], atol=1e-15)
    transform = uv_transform((0.3, -0.2), 0.7, (2.0, -1.5))
    texture = Texture(picture(16, 8), transform=transform)
    function = glsl_call.Function(device, LOOKUP, modules=[textures([texture])])
    uv = np.random.default_rng(5).random((2000, 2)).astype(np.float32)
    (color,) = function(np.zeros(len(uv)), places(uv))
    np.testing.assert_allclose(color, lookup(texture, uv)[:, :3], rtol=0, atol=2.0**-20 * 24 + DECODED)


def test_white_without_a_texture_and_defined_without_a_number(device):
    odd = np.array([[np.nan, 0.5], [np.inf, -np.inf], [3e38, -3e38], [1e9, -1e9], [0.5, 0.5]], np.float32)
    odd = np.concatenate([places(odd, footprint) for footprint in (np.nan, np.inf, -np.inf, SHARP)])
    for found in ([], [Texture(picture(4, 4))]):
        function = glsl_call.Function(device, LOOKUP, modules=[textures(found)])
        np.testing.assert_array_equal(function(np.full(20, -1), odd)[0], 1)
    (color,) = function(np.zeros(20), odd)
    assert np.isfinite(color).all() and (color >= 0).all() and (color <= 1).all()


def test_images_are_held_once():
    image, mips = picture(20, 20), 400 + 100 + 25 + 4 + 1
    module = textures([Texture(image), Texture(image, nearest=True), Texture(picture(3, 3)), Texture(image, uv_set=1)])
    table, levels, texels = (memory.data for memory in module.memories)
    assert len(texels) == mips + 9 + 1
    assert table["level"].tolist() == [0, 0, 5, 0] and table["last"].tolist() == [4, 4, 1, 4]
    starts = levels["start"] @ (BLOCK, 1)
    assert starts.tolist() == [0, 400, 500, 525, 529, mips, mips + 9]
    assert [bool(flags & FLAGS["TEXTURE_NEAREST"]) for flags in table["flags"]] == [False, True, False, False]
    assert [bool(flags & FLAGS["TEXTURE_SECOND"]) for flags in table["flags"]] == [False, False, False, True]


def test_levels_are_held_where_they_are_asked_for():
    for kind, words in ((np.uint8, 1), (np.uint16, 2), (np.float16, 2)):
        module = textures([Texture(picture(6, 4, 0, kind), minification="linear")])
        assert len(module.memories[2].data) == 24 * words


def test_images_beyond_the_memory_are_refused_before_any_is_taken(monkeypatch):
    monkeypatch.setattr("raystream.materials.textures.available", lambda: 4 * 1000 * 1000)
    wide = Image(np.broadcast_to(np.uint8(0), (1000, 1001, 4)))
    with pytest.raises(ViewerError, match=r"take 10,6.* bytes of memory, and 4,000,000 are free .reduce"):
        textures([Texture(wide)])


# -- the memory ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["buffer texture", "2-D texture", "2-D array texture"])
def test_texels_are_exact(device, form):
    data = np.random.default_rng(6).integers(0, 256, (300_001, 4), np.uint8)
    source = Texels("texels", data)
    largest = 128 if "array" in form else 2048
    chosen = layout(largest, source, device.max_buffer if form == "buffer texture" else 0)
    assert (chosen.per_row == IN_BUFFER) == (form == "buffer texture")
    assert chosen.layers == (19 if "array" in form else 0)  # of 128 x 128
    memory = Memory(device, source, chosen)
    rows = chosen.per_row * chosen.layers or -(-len(data) // max(1, chosen.per_row))
    assert memory.bytes == 4 * (rows * chosen.per_row or len(data))
    text = memory_glsl(source, chosen, counting=False) + "\nvec4 read(int i) { return fetch_texels(i); }"
    function = glsl_call.Function(device, "vec4 read(int i)", text=text)
    function.shader.bind("memory_texels", memory.texture)
    at = np.random.default_rng(7).integers(0, len(data), 20_000)
    np.testing.assert_array_equal(np.round(function(at)[0] * 255), data[at])
    memory.release()


def test_texels_beyond_what_a_float_numbers(device):
    """More than 2^24 texels: addresses are integers in GLSL, and their blocks in the table."""
    if device.max_buffer < (1 << 24) + 4096 and device.max_texture < 8192:
        pytest.skip("this driver's textures end below 2^24 texels")
    wide = Image(np.zeros((4096, 4096, 4), np.uint8))
    small = Image(np.tile(np.uint8([[[255, 0, 0, 255]], [[0, 255, 0, 255]]]), (1, 3, 1)))
    module = textures([Texture(wide, minification="linear"), Texture(small, nearest=True)])
    assert len(module.memories[2].data) > 1 << 24
    function = glsl_call.Function(device, LOOKUP, modules=[module])
    (color,) = function([1, 1, 0], places([[0.9, 0.2], [0.9, 0.8], [0.3, 0.3]]))
    np.testing.assert_array_equal(color, [[1, 0, 0], [0, 1, 0], [0, 0, 0]])
    function.resources.release()


def test_a_texture_too_large_for_the_driver_says_so():
    most = 256 * 64 * 64
    assert layout(64, Texels("texels", np.zeros((most, 4), np.uint8)), 4096).layers == 256
    with pytest.raises(ViewerError, match=r"exceed 256 textures of 64 x 64 .reduce the images by max_texture="):
        layout(64, Texels("texels", np.zeros((most + 1, 4), np.uint8)), 4096)


SQUARE = np.float32([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])


def textured_square(size: int = 8) -> Scene:
    """A square of two units that fills the picture of `_camera`; its image's upper left is the picture's."""
    texels = np.random.default_rng(0).integers(0, 256, (size, size, 4), np.uint8)
    uvs = np.stack([(SQUARE[:, 0] + 1) / 2, (1 - SQUARE[:, 1]) / 2], axis=1)
    mesh = Mesh(SQUARE, np.int32([[0, 1, 2], [0, 2, 3]]), uvs=uvs)
    material = Material("dots", (1.0, 0.5, 0.25, 1.0), texture=0)
    return Scene([mesh], [Instance(0)], [material], textures=[Texture(Image(texels, "dots"), nearest=True)])


def _camera() -> Camera:
    return Camera(origin=(0, 0, 1), target=(0, 0, 0), up=(0, 1, 0), fov=90.0)


@pytest.mark.parametrize("machine", ["singlepass", "multipass"])
def test_a_texel_for_every_pixel(device, machine):
    scene = textured_square()
    picture = Renderer(scene, camera=_camera(), machine=machine, device=device, program="cast").render(
        (8, 8), layers="albedo"
    )
    want = linear_from_srgb(scene.textures[0].image.texels[..., :3] / 255) * (1.0, 0.5, 0.25)
    np.testing.assert_allclose(picture.layers["albedo"], want, atol=4e-6)  # decoding's power, as in test_textures


def test_large_textures_are_reduced_on_request(device):
    """--max-texture: levels whose sides are within it; taken back, everything is as it was."""
    scene = textured_square(16)
    renderer = Renderer(scene, camera=_camera(), machine="singlepass", device=device, program="cast")
    whole = renderer.render((16, 16), layers="albedo").layers["albedo"]
    renderer.update(max_texture=8)
    (texture,) = renderer.scene.textures
    np.testing.assert_array_equal(texture.image.texels, next(mip_levels(scene.textures[0].image, "color")))
    small = renderer.render((8, 8), layers="albedo").layers["albedo"]
    want = linear_from_srgb(texture.image.texels[..., :3] / 255) * (1.0, 0.5, 0.25)
    np.testing.assert_allclose(small, want, atol=4e-6)  # decoding's power, as in test_textures
    assert renderer.info()["gpu memory"]["texels"] == 4 * (64 + 16 + 4 + 1)
    compiled = device.compiled
    renderer.update(max_texture=15)
    np.testing.assert_array_equal(renderer.render((8, 8), layers="albedo").layers["albedo"], small)
    assert device.compiled == compiled  # the same images
    renderer.update(max_texture=None)
    np.testing.assert_array_equal(renderer.render((16, 16), layers="albedo").layers["albedo"], whole)
    assert report.describe(scene, max_texture=4)["textures"][0]["size"] == [4, 4]


FACTOR = (2.0, 1.0, 0.5)


def emitting(size: int = 4) -> Scene:
    """A square at z = 0 that shines towards +z, texel by texel; its image's upper left is at (-1, 1)."""
    texels = np.random.default_rng(1).integers(0, 256, (size, size, 4), np.uint8)
    uvs = np.stack([(SQUARE[:, 0] + 1) / 2, (1 - SQUARE[:, 1]) / 2], axis=1)
    mesh = Mesh(SQUARE, np.int32([[0, 1, 2], [0, 2, 3]]), uvs=uvs)
    material = Material("lamp", (0.0, 0.0, 0.0, 1.0), emission=FACTOR, emission_texture=0)
    return Scene([mesh], [Instance(0)], [material], textures=[Texture(Image(texels, "lamp"), nearest=True)])


def radiance(scene: Scene) -> np.ndarray:
    """(H, W, 3): of each texel."""
    return linear_from_srgb(scene.textures[0].image.texels[..., :3] / 255) * FACTOR


@pytest.mark.parametrize("machine", ["singlepass", "multipass"])
def test_every_texel_is_seen_and_the_back_is_dark(device, machine):
    scene = emitting()
    for side in (1, -1):
        camera = Camera(origin=(0, 0, side), target=(0, 0, 0), up=(0, 1, 0), fov=90.0)
        made = Renderer(scene, camera=camera, machine=machine, environment="none", device=device).render((4, 4), spp=4)
        # Decoding's power, as in test_textures; four samples of a texel are alike.
        np.testing.assert_allclose(made.linear, radiance(scene) if side == 1 else 0, atol=2e-5)


@pytest.mark.parametrize("turned", [1.0, -1.0], ids=["as it is", "mirrored"])
def test_corners_of_emitters_keep_their_coordinates(turned):
    """A mirrored instance's corners run the other way, and their texture coordinates with them."""
    scene = emitting()
    scene.instances = [Instance(0, np.diag([turned, 1.0, 1.0, 1.0]))]
    found = emitters(scene)
    x, y = found.corners[..., 0] * turned, found.corners[..., 1]
    np.testing.assert_allclose(found.uvs, np.stack([(x + 1) / 2, (1 - y) / 2], axis=-1), atol=1e-6)
    a, b, c = found.corners.transpose(1, 0, 2)
    assert (np.cross(b - a, c - a)[:, 2] > 0).all()


@pytest.mark.parametrize("strategy", ["both", "lights", "bsdf"])
def test_chance_finds_the_light_of_every_texel(device, strategy):
    """A small white floor under the lamp: its radiance is the sum over texels of L cos cos / (pi d^2)."""
    scene = emitting()
    low = SQUARE * np.float32([0.05, 0.05, 1]) + np.float32([0.3, 0.1, 0.8])
    scene.meshes.append(Mesh(low[::-1].copy(), np.int32([[0, 1, 2], [0, 2, 3]])))  # faces the lamp: -z
    scene.instances.append(Instance(1, material=1))
    scene.materials.append(Material("floor", (1.0, 1.0, 1.0, 1.0)))
    camera = Camera(origin=(0.3, 0.1, 0.7), target=(0.3, 0.1, 0.8), up=(0, 1, 0), fov=20.0)
    renderer = Renderer(
        scene, camera=camera, depth=1, strategy=strategy, sampler="independent", environment="none", device=device
    )
    made = renderer.render((16, 16), spp=64)
    fine = 400  # points across: the quadrature's own error is far below the noise
    grid = (np.arange(fine) + 0.5) / fine * 2 - 1
    x, y = np.meshgrid(grid, -grid)
    squared = (x - 0.3) ** 2 + (y - 0.1) ** 2 + 0.8**2
    weight = 0.8**2 / (np.pi * squared**2) * (2 / fine) ** 2
    wanted = (radiance(scene).repeat(fine // 4, 0).repeat(fine // 4, 1) * weight[..., None]).sum(axis=(0, 1))
    found = made.linear.reshape(-1, 3).astype(np.float64)
    spread = found.std(axis=0) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - wanted) < 4.5 * spread).all()
    assert (spread < 0.02 * wanted).all()


def lamp_of_a_spot() -> Scene:
    """Four of 16 x 16 texels shine on a square of 128 triangles over a floor; both are meshes of their own."""
    texels = np.zeros((16, 16, 4), np.uint8)
    texels[2:4, 3:5] = (255, 100, 30, 255)
    faces = np.int32([[0, 1, 2], [0, 2, 3]])
    corners = np.stack(np.meshgrid(np.linspace(-1, 1, 9), np.linspace(-1, 1, 9)), axis=-1).reshape(-1, 2)
    first = (np.arange(8)[:, None] * 9 + np.arange(8)).ravel()
    cells = np.concatenate([first[:, None] + [0, 1, 10], first[:, None] + [0, 10, 9]])
    points = np.concatenate([corners, np.zeros((81, 1))], axis=1).astype(np.float32)
    lamp = Mesh(points, cells.astype(np.int32), uvs=((corners * [1, -1] + 1) / 2).astype(np.float32))
    floor = Mesh((SQUARE * np.float32([2, 2, 1]) + np.float32([0, 0, 1]))[::-1].copy(), faces, np.ones(2, np.int32))
    textured_emitters = Material("lamp", (0.0, 0.0, 0.0, 1.0), emission=(20.0, 20.0, 20.0), emission_texture=0)
    found = Scene(
        [lamp, floor], [Instance(0), Instance(1)], [textured_emitters, Material("floor", (0.8, 0.8, 0.8, 1.0))]
    )
    found.textures, found.cameras = [Texture(Image(texels))], [Camera((0, 0, 0.1), (0, 0, 1), (0, 1, 0), fov=90.0)]
    return found


@pytest.mark.parametrize("accel", ["bvh", "two-level-bvh"])
def test_spots_are_chosen_as_lights(device, accel):
    """All strategies find the same light; chance alone with several times the noise."""
    found = {}
    for strategy in ("bsdf", "lights", "both"):
        renderer = Renderer(
            lamp_of_a_spot(),
            strategy=strategy,
            depth=1,
            environment="none",
            sampler="independent",
            accel=accel,
            device=device,
        )
        films = []
        for seed in range(8):
            renderer.update(seed=seed)
            films.append(renderer.render((8, 8), 64).linear[..., 0].mean())
        found[strategy] = np.mean(films), np.std(films, ddof=1) / np.sqrt(len(films))
    (chance, wide), (lights, narrow), (both, least) = (found[name] for name in ("bsdf", "lights", "both"))
    assert abs(lights - chance) < 4.5 * np.hypot(wide, narrow) and abs(both - lights) < 4.5 * np.hypot(narrow, least)
    assert narrow < 0.5 * wide and lights > 0.05


def test_fine_patterns_are_no_darker_than_they_are(device):
    """Texels that lie between the places that are looked at count, too: of a checkerboard these were all black."""
    row, column = np.indices((256, 256))
    board = np.repeat(((row + column) % 2 * np.uint8(255)).astype(np.uint8)[..., None], 4, axis=2)
    scene = emitting()
    scene.textures = [Texture(Image(board, "board"))]
    np.testing.assert_allclose(shares(scene, scene.meshes[0]), 0.5, atol=1e-6)  # half of the texels
    scene.textures = [Texture(Image(np.zeros((256, 256, 4), np.uint8), "black"))]
    made = Renderer(scene, environment="none", device=device).render((4, 4), spp=1)
    assert not made.linear.any()

"""Steps of photons and of final gathers, kernel by kernel: emission, what is stored, the rays that gather."""

from __future__ import annotations

from typing import Any

import numpy as np
from kernel_call import INTERACTION, MEDIA, Kernel
from numpy.typing import NDArray

from raystream.kernels.photons import PHOTON, STORED
from raystream.kernels.records import HIT, PATH, PIXEL, RAY

COUNT, WIDTH, PASS = 96, 16, 3
RECORDS = [INTERACTION, MEDIA, PIXEL, PATH, RAY, HIT, PHOTON]
CAMERA, EACH = 4, 8
INDIRECT, CAUSTIC, ALL = STORED["indirect"], STORED["caustic"], sum(STORED.values())
SETTINGS: dict[str, tuple[str, Any]] = {
    "photon_pass": ("int", PASS),
    "photon_kinds": ("int", ALL),
    "photon_width": ("int", WIDTH),
    "photon_share": ("float", 1 / COUNT),
    "photon_bounces": ("int", 4),
    "photon_from": ("int", 0),
    "gather_rays": ("int", 3),
    "path_depth": ("int", 3),
}
CONSTANTS = {"PHOTON_INDIRECT": INDIRECT, "PHOTON_CAUSTIC": CAUSTIC, "DIMENSIONS_OF_SURFACE": EACH}
TEXT = """
float sample_1d(ivec2 pixel, int number, int dimension) {
    float place = float(pixel.x) * 0.25 + float(pixel.y) * 0.5;
    return fract(float(dimension % 997) / 997.0 + float(number % 64) / 64.0 + place);
}
vec2 sample_2d(ivec2 pixel, int number, int dimension) {
    return vec2(sample_1d(pixel, number, dimension), sample_1d(pixel, number, dimension + 1));
}
bool bsdf_delta(Interaction at) { return at.third > 0.5; }
bool bsdf_sample(Interaction at, vec3 wo, vec3 u, out vec3 wi, out vec3 weight, out float pdf) {
    wi = u * 2.0 - 1.0;
    weight = at.first * vec3(1.0, 0.5, 0.25);
    pdf = at.third > 0.5 ? 0.0 : at.second;
    return at.third < 1.5;
}
bool light_emit(
    float choose, vec2 place, vec2 way, bool aimed, out vec3 origin, out vec3 normal, out vec3 direction, out vec3 flux
) {
    origin = vec3(1000.0 * choose, place);
    normal = vec3(0.0, 1.0, 0.0);
    direction = vec3(way - 0.5, aimed ? 1.0 : 0.0);
    flux = vec3(1.0, 2.0, 3.0);
    return place.x > 0.25;
}
Media media_of(int number) { return Media(number + 7); }
Media media_behind(Media media, Interaction at, vec3 way) { return Media(media.inside + (way.y > 0.0 ? 1 : 10)); }
void media_surround(Media media, inout Interaction at) { at.first = float(media.inside); }
Interaction interaction_at(Ray ray, Hit hit, float width, out vec3 emission, out float light_pdf) {
    return Interaction(ray.origin * hit.t, width, vec3(0.0), 1.0, vec3(0.0), 2.0, -ray.direction, 3.0);
}
Interaction interaction_nowhere(vec3 wo) {
    return Interaction(vec3(-7.0), 0.0, vec3(0.0), 0.0, vec3(0.0), 0.0, wo, 0.0);
}
"""


def kernel(device: Any, signature: str, *exits: str, text: str = TEXT) -> Kernel:
    return Kernel(device, signature, exits, RECORDS, SETTINGS, CONSTANTS, text, ["interface/interaction.glsl"])


def random_number(pixel: NDArray, number: NDArray, dimension: NDArray) -> NDArray:
    return (dimension % 997 / 997 + number % 64 / 64 + pixel[..., 0] * 0.25 + pixel[..., 1] * 0.5) % 1.0


def pixels(first_row: int = 0) -> NDArray:
    pixel = np.zeros(COUNT, PIXEL.dtype)
    pixel["at"] = np.stack([np.arange(COUNT) % WIDTH, first_row + np.arange(COUNT) // WIDTH], axis=1)
    return pixel


def surfaces() -> NDArray:
    random = np.random.default_rng(1)
    at = np.zeros(COUNT, INTERACTION.dtype)
    at["position"], at["wo"] = random.uniform(-1, 1, (2, COUNT, 3))
    at["normal"], at["error"] = (0.0, 1.0, 0.0), 0.125
    at["first"], at["second"] = random.uniform(0.25, 0.75, (2, COUNT))
    at["third"] = np.arange(COUNT) % 3
    at["first"][:6] = 0.0
    return at


def gathered(pixel: NDArray, number: NDArray, turn: NDArray, surface: NDArray) -> NDArray:
    """The random direction of a gathering ray: rays of all samples are numbered together."""
    whole, ray = 128 * EACH, number * 3 + turn
    dimension = whole // 2 + EACH * surface + whole * ((ray >> 16) % (65536 // whole - 1))
    u = [random_number(pixel["at"], ray & 65535, dimension + k) for k in range(3)]
    return np.stack(u, axis=1) * 2 - 1


def check_origins(ray: NDArray, at: NDArray) -> None:
    """Off the surface by its error, on the side of the direction."""
    up = np.where(ray["direction"][:, 1] < 0, -0.125, 0.125)[:, None] * [0.0, 1.0, 0.0]
    np.testing.assert_allclose(ray["origin"], at["position"] + up, atol=1e-6)  # a rounding


def paths() -> NDArray:
    random = np.random.default_rng(2)
    path = np.zeros(COUNT, PATH.dtype)
    path["throughput"] = random.uniform(0.5, 1.0, (COUNT, 3))
    path["throughput"][12:24, 1] = 0.0
    path["depth"], path["number"] = np.arange(COUNT) % 5, random.integers(0, 40000, COUNT)
    return path


def test_rays_of_a_gather(device: Any) -> None:
    """As many as there shall be, each a share; without what is reflected as by a mirror, or absorbed, or black."""
    at, path, pixel = surfaces(), paths(), pixels()
    gathering, media = np.zeros(COUNT, PATH.dtype), np.zeros(COUNT, MEDIA.dtype)
    gathering["number"], gathering["depth"] = -1 - np.arange(COUNT) % 5, 2
    media["inside"] = 20
    arguments = (
        "in Pixel pixel, in Interaction at, in Path route, in Media media, inout Path gathering, out Ray ray, "
        "out Media around"
    )
    gather = kernel(device, f"int gather_ray({arguments})", "ray", "again", "end")
    exits, (after, ray, around) = gather(pixel, at, path, media, gathering)
    turn = np.arange(COUNT) % 5
    lives = (at["third"] < 1) & (at["first"] > 0)
    assert exits == np.where(turn >= 3, "end", np.where(lives, "ray", "again")).tolist()
    np.testing.assert_array_equal(after["number"], gathering["number"] - 1)
    assert not after["depth"].any()
    weight = path["throughput"] * at["first"][:, None] * np.float32([1.0, 0.5, 0.25]) / 3
    np.testing.assert_allclose(after["throughput"], weight, rtol=1e-5)
    direction = gathered(pixel, path["number"].astype(np.int64), turn, path["depth"])
    np.testing.assert_allclose(ray["direction"], direction, atol=1e-5)
    check_origins(ray, at)
    np.testing.assert_array_equal(around["inside"], np.where(ray["direction"][:, 1] > 0, 21, 30))


def test_a_gather_that_goes_the_way_of_all_rays(device: Any) -> None:
    """It begins the next ray of the surface, or goes on with the last along mirrors; then comes back to the surface."""
    at, path, pixel = surfaces(), paths(), pixels()
    gathering = np.zeros(COUNT, PATH.dtype)
    media, around = np.zeros(COUNT, MEDIA.dtype), np.zeros(COUNT, MEDIA.dtype)
    gathering["number"], gathering["depth"] = -1 - np.arange(COUNT) % 5, np.arange(COUNT) % 7 % 4 - 1
    gathering["depth"][90:] = 32 + gathering["depth"][90:]
    gathering["throughput"], media["inside"], around["inside"] = (1.0, 2.0, 3.0), 20, 50
    gathering["throughput"][::5, 0] = 0.0
    arguments = (
        "in Pixel pixel, in Interaction at, in Path route, in Media media, inout Path gathering, inout Media around, "
        "out Ray ray"
    )
    exits, (after, into, ray) = kernel(device, f"int gather_on({arguments})", "ray", "again", "place", "end")(
        pixel, at, path, media, gathering, around
    )
    begins = (gathering["number"] == -1) | (gathering["depth"] < 0)
    number = gathering["number"] - begins
    turn = -2 - number
    over = begins & (turn >= 3)
    scattered = (at["third"] < 2) & (at["first"] > 0)
    goes = scattered & np.where(begins, at["third"] == 0, (at["third"] == 1) & (gathering["depth"] + 1 < 3))
    expected = np.where(over, "end", np.where(goes, "ray", np.where(begins, "again", "place")))
    assert exits == expected.tolist() and {*exits} == {"ray", "again", "place", "end"}
    np.testing.assert_array_equal(after["number"], np.where(over, -1, number))
    ends = np.isin(expected, ["again", "place"])
    depth = np.where(begins, 0, gathering["depth"] + 1)
    np.testing.assert_array_equal(after["depth"], np.where(ends, -1, depth))
    base = np.where(begins[:, None], path["throughput"] / 3, gathering["throughput"])
    np.testing.assert_allclose(
        after["throughput"], base * at["first"][:, None] * np.float32([1.0, 0.5, 0.25]), rtol=1e-5
    )
    surface = np.where(begins, path["depth"], 32 + gathering["depth"] % 32)
    direction = gathered(pixel, path["number"].astype(np.int64), turn, surface)
    np.testing.assert_allclose(ray["direction"], direction, atol=1e-5)
    check_origins(ray, at)
    inside = np.where(begins, 20, 50) + np.where(ray["direction"][:, 1] > 0, 1, 10)
    np.testing.assert_array_equal(into["inside"], inside)

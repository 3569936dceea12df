"""Energy: white furnaces, in which everything shines alike, rooms with a closed form, and depth."""

from __future__ import annotations

import numpy as np
import places
import pytest
from blocks import WEIGHTS, of_film, score_of_means, scores

from raystream import Camera, Renderer, Scene
from raystream.film.film import Film
from raystream.scene.environment import ImageEnvironment, sky
from raystream.scene.material import Material
from raystream.scene.scene import Instance

WHITE = (1.0, 1.0, 1.0)  # the furnace's radiance
MOST = 4.5  # standard errors: one value in 150,000 lies farther off
ROUNDING = 2e-5  # relative: a few hundred products and sums of float32


def rendered(scene: Scene, size: int, spp: int, **options) -> tuple[Film, dict[str, np.ndarray]]:
    chosen = {"machine": "singlepass", "sampler": "independent", "seed": 3, **options}
    renderer = Renderer(scene, **chosen)
    picture = renderer.render((size, size), spp=spp, layers=("normal", "depth"))
    renderer.release()
    assert picture.film is not None and np.isfinite(picture.linear).all()
    return picture.film, picture.layers


def by_angle(film: Film, layers: dict[str, np.ndarray], camera: Camera, bins: int = 16):
    """Mean luminance, its standard error and the mean cosine of the pixels that see a thing at each angle, from grazing
    to upright."""
    directions = camera.rays(*film.size)[1]
    cosine = -(directions * layers["normal"]).sum(axis=-1)
    hit = np.isfinite(layers["depth"])
    number = np.clip((np.abs(cosine) * bins).astype(int), 0, bins - 1)
    mean, variance = film.mean().astype(np.float64) @ WEIGHTS, film.variance()
    out = []
    for which in range(bins):
        own = hit & (number == which)
        assert own.any()
        out.append((mean[own].mean(), np.sqrt(variance[own].sum()) / own.sum(), np.abs(cosine[own]).mean()))
    return np.array(out).T


def exact(picture: np.ndarray, expected: float) -> bool:
    """Whether every sample is one path that brings all, but for a few: where a path's vertex lies so near an edge that
    its offset, some 1e-7 of the coordinates, leads beyond the next wall, one in a million goes astray."""
    return float(np.isclose(picture, expected, rtol=ROUNDING, atol=0).mean()) > 0.999


LOSSLESS = places.material(1.0)
BALL = places.sphere()
PLATE = places.box() * np.float32([4, 0.05, 4])  # what enters leaves at the same angle: no light is caught inside
OVER_IT = Camera((0, 0.2, 1.0), (0, 0, 0.8), fov=100.0)  # from upright to grazing
FURNACES = {
    "lambert": (BALL, LOSSLESS, places.FRONT),
    "mirror": (BALL, places.material(1.0, kind="mirror"), places.FRONT),
    "polish": (BALL, places.material(0.4, kind="phong", exponent=50.0, reflectivity=0.6), places.FRONT),
    "glass": (PLATE, places.material(1.0, kind="dielectric", ior=1.5), OVER_IT),
    "diamond": (PLATE, places.material(1.0, kind="dielectric", ior=2.4), OVER_IT),
}


@pytest.mark.parametrize("name", FURNACES)
def test_white_furnace(device, name: str) -> None:
    """What loses nothing cannot be told from the furnace that it hangs in, from whichever angle."""
    corners, one, camera = FURNACES[name]
    film, layers = rendered(places.alone(corners, one, camera), 96, 32, depth=100, environment=WHITE)
    mean, error, _ = by_angle(film, layers, camera)
    assert (np.abs(mean - 1) <= MOST * error + ROUNDING).all()
    assert error.max() < 0.01
    if name != "lambert":
        assert exact(film.linear, 1.0)


@pytest.mark.parametrize("ior", [1.5, 0.75])
def test_radiance_within_glass_is_larger_by_the_square_of_its_index(device, ior: float) -> None:
    """Light that enters is squeezed into a narrower cone (Veach 1997, section 5.2); what leaves again has spread again,
    so that only who is inside can tell. From the middle of a ball, where rays go straight out."""
    within = Camera((0.01, 0.02, 0.03), (1, 0.4, 0.2), fov=60)
    ball = places.alone(BALL, places.material(1.0, kind="dielectric", ior=ior), within)
    film, _ = rendered(ball, 32, 8, depth=60, environment=WHITE)
    assert exact(film.linear, ior**2)


@pytest.mark.parametrize("name", ["lambert", "polish"])
@pytest.mark.parametrize("strategy", ["both", "lights", "bsdf"])
def test_a_furnace_by_every_strategy(device, strategy: str, name: str) -> None:
    ball = places.alone(BALL, FURNACES[name][1])
    film, layers = rendered(ball, 64, 64, depth=2, environment=WHITE, strategy=strategy)
    mean, error, _ = by_angle(film, layers, places.FRONT, 8)
    assert (np.abs(mean - 1) <= MOST * error + ROUNDING).all()


@pytest.mark.parametrize("exponent", [0.0, 5.0, 200.0])
@pytest.mark.parametrize("specular", [0.3, 1.0])
def test_phong_never_returns_more_than_it_gets(device, exponent: float, specular: float) -> None:
    """At most 1; and where the horizon does not cut its lobe, the lobe's share is specular times the cosine, for
    of cos^n (n + 2) / 2 pi what lies across the axis adds up to nothing."""
    phong = places.material(1.0 - specular, kind="phong", specular=specular, exponent=exponent)
    film, layers = rendered(places.alone(BALL, phong), 64, 48, depth=2, environment=WHITE)
    mean, error, cosine = by_angle(film, layers, places.FRONT, 8)
    assert (mean <= 1 + MOST * error + ROUNDING).all()
    if exponent == 200.0:
        whole = cosine > 0.5  # 30 degrees off the axis the lobe is cos(30)^200, 3e-13
        expected = (1 - specular) + specular * cosine
        # samples lie around the pixels' centres, for which the cosines are: triangles are 6 pixels wide
        assert (np.abs(mean - expected)[whole] <= MOST * error[whole] + 3e-3).all()


# -- depth ------------------------------------------------------------------------------------------------------------


def open_box(one: Material) -> Scene:
    """A box without its front side, with a ball in it."""
    sides = places.box(inwards=True).reshape(6, 2, 3, 3)[:5].reshape(-1, 3, 3)
    return places.scene(
        [places.flat(sides), places.flat(places.sphere(2) * 0.5)], [one], Camera((0, 0, 3.5), (0, 0, 0))
    )


def test_a_white_box_comes_up_to_the_furnace_and_never_beyond(device) -> None:
    """Light that has come over more surfaces is only added: at every depth no more than 1, at last 1."""
    box, totals = open_box(LOSSLESS), []
    for depth in (1, 2, 4, 8, 64):
        film, _ = rendered(box, 32, 64, depth=depth, environment=WHITE)
        found = of_film(film)
        assert (found.mean <= 1 + MOST * found.error + ROUNDING).all()
        totals.append(found.total)
    rises = np.diff([mean for mean, _ in totals])
    assert (rises > 0).all(), "one path is the beginning of the next, longer one: the same numbers"
    assert abs(totals[-1][0] - 1) <= MOST * totals[-1][1] + 1e-3  # light over 65 surfaces and more is missing


def shining_room(albedo: float) -> Scene:
    """Every wall reflects so much and shines with 1."""
    inside = Camera((0.1, 0.2, 0.3), (-1, 0.3, -0.8), fov=80)
    return places.alone(places.box(inwards=True), places.material(albedo, shines=1.0), inside)


@pytest.mark.parametrize("strategy", ["both", "lights", "bsdf"])
def test_a_closed_room_that_shines_everywhere(device, strategy: str) -> None:
    """Radiance 1 + a + a^2 + ... everywhere in a convex room whose walls shine with 1 and reflect a: at every depth."""
    albedo = 0.6
    room = shining_room(albedo)
    for depth in (0, 1, 2, 5):
        expected = sum(albedo**k for k in range(depth + 1))
        film, _ = rendered(room, 32, 64, depth=depth, strategy=strategy)
        found = of_film(film)
        assert (np.abs(found.mean - expected) <= MOST * found.error + ROUNDING * expected).all(), depth
        if strategy == "bsdf":  # each surface brings what it must, whatever the direction
            assert exact(film.linear, expected)


def test_russian_roulette_keeps_the_mean(device) -> None:
    albedo, depth = 0.6, 12
    room = shining_room(albedo)
    expected = sum(albedo**k for k in range(depth + 1))
    for first in (1, 4):
        film, _ = rendered(room, 48, 64, depth=depth, strategy="bsdf", roulette=first)
        found = of_film(film)
        assert (np.abs(found.mean - expected) <= MOST * found.error).all() and (found.error > 0).all()


# -- strategies -------------------------------------------------------------------------------------------------------


def lit_by_area() -> tuple[Scene, dict]:
    """A grey box with a ball and a lamp of some size, so that all strategies find it."""
    lamp = places.quads(np.array([[[-0.5, 0.98, -0.5], [0.5, 0.98, -0.5], [0.5, 0.98, 0.5], [-0.5, 0.98, 0.5]]]))
    made = open_box(places.material(0.7))
    phong = places.material(0.3, kind="phong", specular=0.6, exponent=20.0)
    made.meshes[1] = places.flat(places.sphere(2) * 0.5, 1)
    made.meshes.append(places.flat(lamp, 2, name="lamp"))
    made.materials += [phong, places.material(0.5, shines=8.0)]
    made.instances.append(Instance(2))
    return made, {"environment": "none"}


def lit_by_sky() -> tuple[Scene, dict]:
    """The same without the lamp, under a picture with a bright patch."""
    made, _ = lit_by_area()
    made.materials[2] = places.material(0.5)
    rng = np.random.default_rng(5)
    pixels = rng.uniform(0.1, 1.0, (16, 32, 3)).astype(np.float32)
    pixels[4:6, 21:24] = 30.0  # towards +Z, where the box is open
    return made, {"environment": ImageEnvironment(pixels)}


@pytest.mark.parametrize("lit", [lit_by_area, lit_by_sky])
def test_strategies_converge_to_one_picture(device, lit) -> None:
    scene, options = lit()
    made = {}
    for number, strategy in enumerate(("both", "lights", "bsdf")):
        film, _ = rendered(scene, 64, 64, depth=3, strategy=strategy, seed=10 + number, **options)
        made[strategy] = of_film(film)
        assert made[strategy].mean.min() > 0.01
    for one, other in (("both", "lights"), ("both", "bsdf"), ("lights", "bsdf")):
        # 16 blocks of three pairs of two scenes: the largest of 96 scores
        assert np.abs(scores(made[one], made[other])).max() <= MOST, (one, other)
        assert abs(score_of_means(made[one], made[other])) <= 4
    assert made["both"].error.mean() < min(made["lights"].error.mean(), made["bsdf"].error.mean())
    assert made["both"].error.mean() < 0.015 * made["both"].mean.mean()


def lit_by(environment: ImageEnvironment | tuple[float, float, float]) -> dict[str, float]:
    """The variance of a ball on a plate in the open, in that environment, by strategy."""
    made = places.scene([places.flat(BALL), places.flat(PLATE - np.float32([0, 1, 0]))], [places.material(0.5)])
    found = {}
    for strategy in ("both", "lights", "bsdf"):
        film, _ = rendered(made, 64, 16, depth=3, strategy=strategy, environment=environment)
        found[strategy] = float(film.variance().mean())
    return found


def test_a_compensated_environment_spares_most_of_the_variance(device) -> None:
    """Half of the default sky's light comes from its sun, which light sampling finds, and half from all directions."""
    variance = lit_by(sky())
    assert variance["both"] < 0.5 * min(variance["lights"], variance["bsdf"])
    # Of a colour nothing is left to light sampling.
    variance = lit_by(WHITE)
    assert variance["both"] == variance["bsdf"] < 0.5 * variance["lights"]


def test_bounce_layers_of_a_closed_room(device) -> None:
    """Layer k holds light that has come over k surfaces: a^k, and nothing else."""
    albedo, depth = 0.6, 4
    room = shining_room(albedo)
    renderer = Renderer(room, machine="singlepass", depth=depth, strategy="bsdf")
    picture = renderer.render((16, 16), spp=4, layers=("bounce",))
    renderer.release()
    names = [f"bounce.{k}" for k in range(depth + 1)]
    assert list(picture.layers) == names
    for k, name in enumerate(names):
        assert exact(picture.layers[name], albedo**k)
    np.testing.assert_allclose(sum(picture.layers[name] for name in names), picture.linear, rtol=ROUNDING)

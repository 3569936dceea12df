"""The path tracer against Mitsuba's pictures with standard errors: unbiased, block by block and as a whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from blocks import Blocks, chi_square_tail, means, normal_tail, of_film, of_reference, score_of_means, scores

import raystream
from raystream import Renderer
from raystream.film.film import LUMINANCE

# Samples of the quick test by reference: half a minute of CPU in all.
REFERENCES = {
    **dict.fromkeys(("cornell_direct_128", "cornell_depth5_128"), 64),
    **dict.fromkeys(("cornell_gi_128", "bunny_ground_depth5_256", "glass_sphere_256", "metal_ring_256"), 32),
}
MANY = 1024
LEAST_CHANCE = 1e-4  # of the sum of all squared scores
FARTHEST = 4.0  # standard errors, of a picture's mean
NEAREST = 0.003  # of the mean, with many samples


@dataclass(frozen=True)
class Pair:
    """Ours, Mitsuba's, and the share of our samples by its."""

    ours: Blocks
    other: Blocks
    share: float

    @property
    def scores(self) -> np.ndarray:
        return scores(self.ours, self.other, self.share)


Compare = Callable[[str], Pair]


def compared(folder: Path, name: str, samples: int) -> Pair:
    """Renders a reference's picture with independent samples."""
    data = np.load(folder / f"{name}.npz")
    said = json.loads((folder / f"{name}.json").read_text())
    scene, depth = said["scene"], said["integrator"]["max_depth"] - 1  # Mitsuba counts edges
    height, width = data["mean"].shape[:2]
    scene = raystream.load(str(folder / f"{scene}.glb"))
    given = {"machine": "singlepass", "environment": "none"}  # nothing is behind the references
    renderer = Renderer(scene, **given, sampler="independent", depth=depth, seed=7)
    picture = renderer.render((width, height), spp=samples)
    renderer.release()
    assert picture.film is not None and np.isfinite(picture.linear).all() and (picture.linear >= 0).all()
    assert (picture.film.count == samples).all()
    return Pair(of_film(picture.film), of_reference(data["mean"], data["stderr"]), samples / said["spp"])


@pytest.fixture(scope="module")
def quick(shared_refs: Path, device) -> Iterator[Compare]:
    """Pairs by name, each rendered once."""
    made: dict[str, Pair] = {}

    def compare(name: str) -> Pair:
        if name not in made:
            made[name] = compared(shared_refs, name, REFERENCES[name])
        return made[name]

    yield compare


@pytest.mark.parametrize("name", REFERENCES)
def test_every_reference_within_its_errors(device, quick: Compare, name: str) -> None:
    pair = quick(name)
    found = pair.scores  # which asserts that blocks without spread are equal
    assert len(found) > 0.7 * pair.other.mean.size
    assert abs(score_of_means(pair.ours, pair.other)) <= FARTHEST
    # Six references, and the largest of some 800 scores: a wrong one is told by its name before all are summed.
    assert chi_square_tail(float((found**2).sum()), len(found)) > LEAST_CHANCE / len(REFERENCES)


def test_all_references_together(device, quick: Compare) -> None:
    found = np.concatenate([quick(name).scores for name in REFERENCES])
    assert chi_square_tail(float((found**2).sum()), len(found)) > LEAST_CHANCE


def test_a_bias_of_a_hundredth_is_found(device, quick: Compare) -> None:
    """That the test above can fail: a picture that is too bright by 1 % where its errors are smallest."""
    pair = quick("bunny_ground_depth5_256")
    ours = pair.ours
    wrong = Blocks(ours.mean * 1.01, ours.error, (ours.total[0] * 1.01, ours.total[1]))
    assert abs(score_of_means(wrong, pair.other)) > FARTHEST
    assert chi_square_tail(float((scores(wrong, pair.other, pair.share) ** 2).sum()), 204) < LEAST_CHANCE


# -- what the scores rest on ------------------------------------------------------------------------------------------


def test_a_pixel_s_samples_tell_how_batches_of_other_seeds_spread(device, shared_refs: Path) -> None:
    """Samples are independent between pixels and seeds: the blocks' errors from single samples are those that 32
    batches, of a seed each, spread by."""
    seeds, samples, edge = 32, 4, 64
    renderer = Renderer(
        raystream.load(str(shared_refs / "cornell.glb")), machine="singlepass", sampler="independent", depth=2
    )
    batches, variances = [], []
    for seed in range(seeds):
        renderer.update(seed=seed)
        film = renderer.render((edge, edge), spp=samples).film
        assert film is not None
        batches.append(means(film.linear @ LUMINANCE))
        variances.append(of_film(film).error ** 2)
    renderer.release()
    between, within = np.var(batches, axis=0, ddof=1), np.mean(variances, axis=0)
    # 16 blocks with 31 degrees of freedom each; the lamp's, where a sample is worth hundreds, spreads most.
    ratio = between[within > 0] / within[within > 0]
    degrees = (seeds - 1) * ratio.size
    chance = chi_square_tail(float(ratio.sum()) * (seeds - 1), degrees)
    assert LEAST_CHANCE < chance < 1 - LEAST_CHANCE, ratio


# -- Sobol points -----------------------------------------------------------------------------------------------------


def test_sobol_points_agree_and_err_less(device, shared_refs: Path) -> None:
    """8 samples of the Cornell box, by 8 seeds of the one sampler and 3 of the other, against the reference."""
    seeds, samples, name = {"sobol": 8, "independent": 3}, 8, "cornell_depth5_128"
    data = np.load(shared_refs / f"{name}.npz")
    truth = data["mean"].astype(np.float64) @ LUMINANCE
    errors, totals = {}, {}
    scene = raystream.load(str(shared_refs / "cornell.glb"))
    for sampler in seeds:
        renderer = Renderer(scene, machine="singlepass", sampler=sampler, depth=4)
        found = []
        for seed in range(seeds[sampler]):
            renderer.update(seed=seed)
            found.append(renderer.render(truth.shape[::-1], spp=samples).linear.astype(np.float64) @ LUMINANCE)
        renderer.release()
        off = np.array(found) - truth
        blocks = np.array([means(each) for each in off])
        errors[sampler] = np.sqrt([np.mean(off**2), np.mean(blocks**2), np.mean(off.mean(axis=(1, 2)) ** 2)])
        totals[sampler] = off.mean(axis=(1, 2))
    # Student's t with 7 degrees of freedom beyond 7.1: one in 5,000; the reference's own error is far below.
    spread = np.std(totals["sobol"], ddof=1) / np.sqrt(seeds["sobol"])
    assert abs(totals["sobol"].mean()) < 7.1 * np.hypot(spread, of_reference(data["mean"], data["stderr"]).total[1])
    pixel, block, _ = errors["sobol"] / errors["independent"]
    print(f"Sobol's error by that of independent samples: pixels {pixel:.2f}, 16 x 16 blocks {block:.2f}")
    assert pixel < 0.6 and block < 0.6  # measured: 0.38 and 0.30


# -- the estimated error ----------------------------------------------------------------------------------------------

# Scene, surfaces of a path. Of the Cornell box, where straight edges of the lamp err together, single pictures differ
# by more from their estimate: tools/bench.py adaptive.
ESTIMATED = {"bunny_ground": ("bunny_ground_depth5_256", 4), "metal_ring": ("metal_ring_256", 15)}
APART = 0.25  # of the measured error
GOALS = {"bunny_ground": 0.03, "metal_ring": 0.5}


@pytest.mark.slow
@pytest.mark.parametrize("scene", ESTIMATED)
def test_the_estimated_error_is_the_measured_one(device, shared_refs: Path, scene: str) -> None:
    """After 8, 16, 32 and 64 Sobol points, and of an adaptive picture, less the reference's own error."""
    name, depth = ESTIMATED[scene]
    data = np.load(shared_refs / f"{name}.npz")
    truth, noise = (data[key].astype(np.float64) @ LUMINANCE for key in ("mean", "stderr"))

    def measured(picture: raystream.Picture) -> float:
        square = np.mean((picture.linear.astype(np.float64) @ LUMINANCE - truth) ** 2 - noise**2)
        return float(np.sqrt(square) / truth.mean())

    given = {"machine": "singlepass", "environment": "none", "depth": depth}
    renderer = Renderer(raystream.load(str(shared_refs / f"{scene}.glb")), **given)
    for samples in (8, 16, 32, 64):
        picture = renderer.render(truth.shape[::-1], spp=samples)
        assert picture.film is not None
        assert picture.film.error() == pytest.approx(measured(picture), rel=APART), samples
    picture = renderer.render(truth.shape[::-1], error=GOALS[scene])
    renderer.release()
    assert picture.film is not None and picture.film.sample_budget is not None
    assert picture.film.error() == pytest.approx(measured(picture), rel=APART)
    assert measured(picture) < (1 + APART) * GOALS[scene]


@pytest.mark.slow
def test_references_with_many_samples(device, shared_refs: Path) -> None:
    """1,024 samples of every pixel: some 10 minutes of CPU."""
    found = []
    for name in REFERENCES:
        pair = compared(shared_refs, name, MANY)
        found.append(pair.scores)
        score = score_of_means(pair.ours, pair.other)
        apart = pair.ours.total[0] / pair.other.total[0] - 1
        chance = chi_square_tail(float((found[-1] ** 2).sum()), len(found[-1]))
        print(f"{name}: {len(found[-1])} blocks, p {chance:.3g}; mean off by {score:.2f} errors, {apart:.2e} of itself")
        assert abs(score) <= FARTHEST and abs(apart) <= NEAREST
    every = np.concatenate(found)
    assert chi_square_tail(float((every**2).sum()), len(every)) > LEAST_CHANCE


def test_tails_of_distributions() -> None:
    # Abramowitz and Stegun, Handbook of Mathematical Functions (1964), table 26.8: 100 degrees of freedom.
    for value, chance in ((118.498, 0.1), (124.342, 0.05), (135.807, 0.01), (149.449, 0.001)):
        assert chi_square_tail(value, 100) == pytest.approx(chance, rel=0.02)
    assert normal_tail(1.959964) == pytest.approx(0.05, rel=1e-6)

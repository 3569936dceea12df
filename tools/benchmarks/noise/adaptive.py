"""Error estimates of pictures, stops by `--error`, and savings of adaptive sampling.

Errors are root mean square over pixels, of the luminance, relative to the picture's mean, as estimated by
`raystream.film.film.Film.error`. They are measured against the mean of the other seeds' pictures with most samples,
corrected for its variance: the references of the Cornell box have larger errors than our pictures of 256 samples.
`errors` and `told` in the results are per seed; `by_reference` are errors against a reference of our size, if any, with
its own error `floor`. Renders that stop at an error have their own seeds, at the errors of pictures of `GOALS` samples.
Seconds are of all threads of the process.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import raystream
from benchmarks.common import Options, Result, Table, facts, say
from benchmarks.errors import LUMINANCE
from benchmarks.scenes import Absent, reference_picture
from raystream.film.device_film import FilmBuffer
from raystream.renderer.sampling.sampler import FramePlan

ABOUT = "error estimates, renders that stop by them, and savings of adaptive sampling"

# Seeds of estimates by reference, and of renders that stop at an error. Errors of few pixels, as at the edges of
# the Cornell box's lamp, differ more among seeds.
PICTURES = {
    "cornell_direct_128": (6, 4),
    "cornell_depth5_128": (4, 2),
    **dict.fromkeys(("cornell_gi_128", "bunny_ground_depth5_256", "glass_sphere_256", "metal_ring_256"), (3, 2)),
}
SIZE = (128, 128)  # of all pictures
SAMPLES = (8, 16, 32, 64, 128, 256)
GOALS = (24, 64)  # samples whose errors are the goals
FIRST_SEED = 1001  # of renders that stop
MOST = 512  # samples of them
EARLY = 1.25  # largest error of a picture, relative to the goal


def run(options: Options) -> Result:
    """Measure everything."""
    device = options.open()
    data: dict[str, Any] = {"facts": facts(device), "missing": []}
    data |= {"estimates": {}, "stops": {}}
    size, samples = ((32, 32), SAMPLES[:3]) if options.quick else (SIZE, SAMPLES)
    for name, (seeds, stops) in list(PICTURES.items())[: 1 if options.quick else None]:
        try:
            reference, scene, depth = reference_picture(name)
        except Absent as error:
            data["missing"].append(f"{name}: {error}")
            continue
        say(name)
        seeds, stops = (2, 1) if options.quick else (seeds, stops)
        renderer = raystream.Renderer(scene, device=device, machine="singlepass", depth=depth, environment="none")
        found = [_series(renderer, size, seed, samples) for seed in range(seeds)]
        pictures, told = np.array([pair[0] for pair in found]), np.array([pair[1] for pair in found])
        errors = measured(pictures)
        data["estimates"][name] = {"samples": samples, "errors": errors.tolist(), "told": told.tolist()}
        if reference.size == size:
            data["estimates"][name] |= {
                "by_reference": [[_apart(one, reference.mean) for one in series] for series in pictures],
                "floor": float(np.sqrt(np.mean(reference.stderr**2)) / reference.mean.mean()),
            }
        truth = pictures[:, -1].mean(axis=0)
        noise = float(np.mean(np.var(pictures[:, -1], axis=0, ddof=1))) / seeds
        usual = np.sqrt(np.mean(errors**2, axis=0))
        goals = goals_of(samples, usual, GOALS[:1] if options.quick else GOALS)
        most = 64 if options.quick else MOST
        each = {how: _to(renderer, truth, noise, goals, how, stops, most) for how in ("off", "on")}
        data["stops"][name] = {"samples": samples, "errors": usual.tolist(), "goals": goals, **each}
        renderer.release()
    return Result(data, [_estimate_table(data), _stop_table(data)])


def goals_of(samples: Sequence[int], errors: NDArray[np.float64], wanted: Sequence[int]) -> list[float]:
    """Errors of pictures of the ``wanted`` sample counts, two digits, interpolated between measurements."""
    logs = np.interp(np.log(wanted), np.log(samples), np.log(np.maximum(errors, 1e-12)))
    return [float(f"{np.exp(value):.2g}") for value in logs]


def needed(samples: Sequence[int], errors: Sequence[float], error: float) -> float:
    """Samples per pixel at which pictures usually reach an error, interpolated between measurements."""
    logs = np.interp(-np.log(error), -np.log(np.maximum(errors, 1e-12)), np.log(samples))
    return float(np.exp(logs))


def measured(pictures: NDArray[np.floating]) -> NDArray[np.float64]:
    """(S, K) relative errors of pictures (S, K, H, W): luminance, S seeds with K increasing sample counts.

    Against the mean of the other seeds' last pictures, whose variance, estimated from their differences, is subtracted
    from the square.
    """
    last = pictures[:, -1].astype(np.float64)
    seeds, sums, noise = len(last), last.sum(axis=0), float(np.mean(np.var(last, axis=0, ddof=1)))
    squares = [
        [float(np.mean((one - (sums - last[seed]) / (seeds - 1)) ** 2)) - noise / (seeds - 1) for one in series]
        for seed, series in enumerate(pictures)
    ]
    return np.sqrt(np.maximum(squares, 0.0)) / float(last.mean())


def _apart(luminance: NDArray[np.floating], truth: NDArray[np.float64], noise: float = 0.0) -> float:
    """The relative error of a picture (H, W) by another one, corrected for the latter's variance."""
    return float(np.sqrt(max(float(np.mean((luminance - truth) ** 2)) - noise, 0.0)) / truth.mean())


def _series(
    renderer: raystream.Renderer, size: tuple[int, int], seed: int, samples: tuple[int, ...]
) -> tuple[list[NDArray[np.float32]], list[float]]:
    """A picture's luminance at these sample counts, and the estimates of its error."""
    renderer.update(seed=seed)
    with renderer.device.current():
        film = FilmBuffer(renderer.device, size)
    pictures, told = [], []
    for count in samples:
        for _ in renderer.sampler.render_tiles(
            FramePlan(renderer.settings, renderer.camera, size, samples=count), film
        ):
            pass
        with renderer.device.current():
            told.append(film.error())
            pictures.append((film.film().linear @ LUMINANCE).astype(np.float32))
    with renderer.device.current():
        film.release()
    return pictures, told


def _to(
    renderer: raystream.Renderer,
    truth: NDArray[np.float64],
    noise: float,
    goals: Sequence[float],
    how: str,
    seeds: int,
    most: int,
) -> list[dict[str, float]]:
    """Pictures of several seeds that stop at an error, with adaptive sampling or not; ``most``: samples."""
    size, found = truth.shape[::-1], []
    renderer.update(adaptive=how)
    renderer.render(size, 40, error=1e-9)  # compiles, including adaptive sampling
    for goal in goals:
        for seed in range(FIRST_SEED, FIRST_SEED + seeds):
            renderer.update(seed=seed)
            began = time.process_time()
            picture = renderer.render(size, most, error=goal)
            seconds = time.process_time() - began
            assert picture.film is not None
            luminance = picture.linear.astype(np.float64) @ LUMINANCE
            found.append(
                {
                    "goal": goal,
                    "seed": seed,
                    "seconds": seconds,
                    "samples": float(picture.film.count.mean()),
                    "most": float(picture.film.count.max()),
                    "told": picture.film.error(),
                    "error": _apart(luminance, truth, noise),
                    "mean": float(luminance.mean() / truth.mean() - 1),
                }
            )
    return found


def _estimate_table(data: dict[str, Any]) -> Table:
    rows: list[tuple[Any, ...]] = []
    for name, found in data["estimates"].items():
        ratios = np.array(found["told"]) / np.array(found["errors"])
        rows.append((name, f"{len(ratios)} seeds", *np.exp(np.log(ratios).mean(axis=0)).tolist()))
        rows.append(("", "least", *ratios.min(axis=0).tolist()))
        rows.append(("", "most", *ratios.max(axis=0).tolist()))
    counts = next(iter(data["estimates"].values()), {"samples": SAMPLES})["samples"]
    note = "The estimate by the error: the geometric mean over seeds, and the least and most of single pictures."
    return Table("Estimated errors", ("picture", "of", *(f"{n} samples" for n in counts)), rows, note)


def _stop_table(data: dict[str, Any]) -> Table:
    rows = []
    for name, found in data["stops"].items():
        for goal in found["goals"]:
            for how in ("off", "on"):
                runs = [one for one in found[how] if one["goal"] == goal]
                one = {key: float(np.mean([each[key] for each in runs])) for key in runs[0]}
                worst = max(each["error"] for each in runs) / goal
                spent = one["samples"] / needed(found["samples"], found["errors"], goal)
                # An error falls about with the root of time: seconds scaled to an exact meeting of the goal.
                work = float(np.mean([each["seconds"] * each["error"] ** 2 for each in runs])) * 1e2
                values = (100 * one["told"], 100 * one["error"], worst, one["samples"], spent, one["seconds"], work)
                rows.append((name, f"{how}, {100 * goal:g} %", *values))
    note = (
        "Means over seeds. Worst: the largest error by the one asked for, of which "
        f"{EARLY} is the most that may be. Of needed: samples by those at which pictures with as many everywhere "
        "usually err so much. Work: 100 times CPU seconds times the square of the error, the same at every error."
    )
    heads = ("picture", "adaptive", "told %", "error %", "worst", "samples", "of needed", "CPU s", "work")
    return Table("Pictures that stop at an error", heads, rows, note)

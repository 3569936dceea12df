"""Error estimates of pictures, stops by `--error`, and savings of adaptive sampling.

Errors are root mean square over pixels, of the luminance, relative to the picture's mean, as estimated by
`raystream.film.film.Film.error`. They are measured against the mean of the other seeds' pictures with most samples,
corrected for its variance: the references of the Cornell box have larger errors than our pictures of 256 samples.
`errors` and `estimates` in the results are per seed. Renders that stop at an error have their own seeds, at the errors
of pictures of `GOALS` samples. Seconds are of all threads of the process.
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


def run(options: Options) -> Result:
    """Measure everything."""
    device, quick = options.open(), options.quick
    data: dict[str, Any] = {"facts": facts(device), "missing": [], "estimates": {}, "stops": {}}
    size, samples, most = ((32, 32), SAMPLES[:3], 64) if quick else (SIZE, SAMPLES, MOST)
    for name, (seeds, stops) in list(PICTURES.items())[: 1 if quick else None]:
        try:
            _, scene, depth, _ = reference_picture(name)
        except Absent as error:
            data["missing"].append(f"{name}: {error}")
            continue
        say(name)
        seeds, stops = (2, 1) if quick else (seeds, stops)
        renderer = raystream.Renderer(scene, device=device, machine="singlepass", depth=depth, environment="none")
        series = [_series(renderer, size, seed, samples) for seed in range(seeds)]
        pictures, estimates = (np.array(part) for part in zip(*series, strict=True))
        errors = measured(pictures)
        data["estimates"][name] = {"samples": samples, "errors": errors, "estimates": estimates}
        truth = pictures[:, -1].mean(axis=0)
        noise = float(np.mean(np.var(pictures[:, -1], axis=0, ddof=1))) / seeds
        usual = np.sqrt(np.mean(errors**2, axis=0))
        goals = goals_of(samples, usual, GOALS[:1] if quick else GOALS)
        data["stops"][name] = {"samples": samples, "errors": usual, "goals": goals}
        for how in ("off", "on"):
            renderer.update(adaptive=how)
            renderer.render(size, 40, error=1e-9)  # compiles, including adaptive sampling
            runs = [(goal, seed) for goal in goals for seed in range(FIRST_SEED, FIRST_SEED + stops)]
            data["stops"][name][how] = [_stopped(renderer, truth, noise, *each, most) for each in runs]
        renderer.release()
    return Result(data, [_estimate_table(data), _stop_table(data)])


def goals_of(samples: Sequence[int], errors: NDArray[np.float64], wanted: Sequence[int]) -> list[float]:
    """Errors of pictures of the ``wanted`` sample counts, two digits, interpolated between measurements."""
    logs = np.interp(np.log(wanted), np.log(samples), np.log(np.maximum(errors, 1e-12)))
    return [float(f"{np.exp(value):.2g}") for value in logs]


def needed(samples: Sequence[int], errors: NDArray[np.float64], error: float) -> float:
    """Samples per pixel at which pictures usually reach an error, interpolated between measurements."""
    return float(np.exp(np.interp(-np.log(error), -np.log(np.maximum(errors, 1e-12)), np.log(samples))))


def measured(pictures: NDArray[np.floating]) -> NDArray[np.float64]:
    """(S, K) relative errors of pictures (S, K, H, W): luminance, S seeds with K increasing sample counts.

    Against the mean of the other seeds' last pictures, whose variance, estimated from their differences, is subtracted
    from the square.
    """
    last = pictures[:, -1].astype(np.float64)
    others, noise = len(last) - 1, float(np.mean(np.var(last, axis=0, ddof=1)))
    truth = (last.sum(axis=0) - last) / others
    squares = ((pictures - truth[:, None]) ** 2).mean(axis=(2, 3)) - noise / others
    return np.sqrt(np.maximum(squares, 0.0)) / float(last.mean())


def _series(
    renderer: raystream.Renderer, size: tuple[int, int], seed: int, samples: tuple[int, ...]
) -> tuple[list[NDArray[np.float32]], list[float]]:
    """A picture's luminance at these sample counts, and the estimates of its error."""
    renderer.update(seed=seed)
    with renderer.device.current():
        film = FilmBuffer(renderer.device, size)
    pictures, estimates = [], []
    for count in samples:
        plan = FramePlan(renderer.settings, renderer.camera, size, samples=count)
        for _ in renderer.sampler.render_tiles(plan, film):
            pass
        with renderer.device.current():
            estimates.append(film.error())
            pictures.append((film.film().linear @ LUMINANCE).astype(np.float32))
    with renderer.device.current():
        film.release()
    return pictures, estimates


def _stopped(
    renderer: raystream.Renderer, truth: NDArray[np.float64], noise: float, goal: float, seed: int, most: int
) -> dict[str, float]:
    """A picture that stops at an error, the ``goal``, and its error by the truth, whose variance is ``noise``."""
    renderer.update(seed=seed)
    began = time.process_time()
    picture = renderer.render(truth.shape[::-1], most, error=goal)
    seconds = time.process_time() - began
    assert picture.film is not None
    luminance = picture.linear.astype(np.float64) @ LUMINANCE
    error = float(np.sqrt(max(float(np.mean((luminance - truth) ** 2)) - noise, 0.0)) / truth.mean())
    out = {"goal": goal, "seed": seed, "seconds": seconds, "error": error, "estimate": picture.film.error()}
    return {**out, "samples": float(picture.film.count.mean()), "most": float(picture.film.count.max())}


def _estimate_table(data: dict[str, Any]) -> Table:
    rows: list[tuple[Any, ...]] = []
    for name, of_picture in data["estimates"].items():
        ratios = of_picture["estimates"] / of_picture["errors"]
        rows.append((name, f"{len(ratios)} seeds", *np.exp(np.log(ratios).mean(axis=0)).tolist()))
        rows.append(("", "least", *ratios.min(axis=0).tolist()))
        rows.append(("", "most", *ratios.max(axis=0).tolist()))
    counts = next(iter(data["estimates"].values()), {"samples": SAMPLES})["samples"]
    note = "The estimate by the error: the geometric mean over seeds, and the least and most of single pictures."
    return Table("Estimated errors", ("picture", "of", *(f"{n} samples" for n in counts)), rows, note)


def _stop_table(data: dict[str, Any]) -> Table:
    rows = []
    for name, stops in data["stops"].items():
        for goal in stops["goals"]:
            for how in ("off", "on"):
                runs = [one for one in stops[how] if one["goal"] == goal]
                mean = {key: float(np.mean([each[key] for each in runs])) for key in runs[0]}
                worst = max(each["error"] for each in runs) / goal
                spent = mean["samples"] / needed(stops["samples"], stops["errors"], goal)
                # An error falls about with the root of time: seconds scaled to an exact meeting of the goal.
                work = float(np.mean([each["seconds"] * each["error"] ** 2 for each in runs])) * 1e2
                values = (100 * mean["estimate"], 100 * mean["error"], worst, mean["samples"], spent, mean["seconds"])
                rows.append((name, f"{how}, {100 * goal:g} %", *values, work))
    note = (
        "Means over seeds. Worst: the largest error by the one asked for, of which 1.25 is the most that may be. "
        "Of needed: samples by those at which pictures with as many everywhere "
        "usually err so much. Work: 100 times CPU seconds times the square of the error, the same at every error."
    )
    heads = ("picture", "adaptive", "told %", "error %", "worst", "samples", "of needed", "CPU s", "work")
    return Table("Pictures that stop at an error", heads, rows, note)

"""The estimate of a picture's error, and what adaptive sampling saves.

Errors are root mean square over pixels, of the luminance, by the picture's mean: what `viewer.film.film.Film.error`
estimates. They are measured against the mean of the other seeds' pictures with most samples, whose own variance is
taken off: the references of the Cornell box err more than our pictures of 256 samples do. `errors` and `told` in the
results are of every seed; `by_reference` are the errors against the reference, of which `floor` is its own.
Seconds are of all threads of the process.
"""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

import viewer
from viewer.film.buffers import FilmBuffer

from . import plots
from .common import Options, Result, Table, facts, say
from .errors import LUMINANCE, Reference
from .scenes import Absent, _file, shared

ABOUT = "the error's estimate beside the error, and adaptive sampling beside as many samples everywhere"

# Reference -> scene, seeds, relative error that is asked of adaptive sampling. Where few pixels make the error, as the
# edges of the lamp do in the Cornell box, it differs more from seed to seed.
PICTURES = {
    "cornell_direct_128": ("cornell", 6, 0.05),
    "cornell_depth5_128": ("cornell", 6, 0.05),
    "cornell_gi_128": ("cornell", 6, None),
    "bunny_ground_depth5_256": ("bunny_ground", 3, 0.03),
    "glass_sphere_256": ("glass_sphere", 3, 0.3),
    "metal_ring_256": ("metal_ring", 3, 0.4),
}
SAMPLES = (8, 16, 32, 64, 128, 256)
ADAPTIVE_SEEDS = (1001, 1002)


def run(options: Options) -> Result:
    """Measure all of it."""
    device = options.open()
    data: dict[str, Any] = {"benchmark": "adaptive", "about": ABOUT, "facts": facts(device), "missing": []}
    data |= {"estimates": {}, "adaptive": {}}
    samples = SAMPLES[: 3 if options.quick else None]
    for name, (scene, seeds, goal) in list(PICTURES.items())[: 1 if options.quick else None]:
        try:
            folder = shared() / "refs"
            reference = Reference.load(_file(folder / f"{name}.npz"))
            edges = json.loads(_file(folder / f"{name}.json").read_text(encoding="utf-8"))["integrator"]["max_depth"]
            loaded = viewer.load(str(_file(folder / f"{scene}.glb")))
        except Absent as error:
            data["missing"].append(f"{name}: {error}")
            continue
        say(name)
        seeds = 2 if options.quick else seeds
        renderer = viewer.Renderer(loaded, device=device, machine="singlepass", depth=edges - 1)
        found = [_series(renderer, reference.size, seed, samples) for seed in range(seeds)]
        pictures, told = np.array([pair[0] for pair in found]), np.array([pair[1] for pair in found])
        data["estimates"][name] = {
            "samples": samples,
            "errors": measured(pictures).tolist(),
            "told": told.tolist(),
            "by_reference": [[_apart(one, reference.mean) for one in series] for series in pictures],
            "floor": float(np.sqrt(np.mean(reference.stderr**2)) / reference.mean.mean()),
        }
        if goal is not None:
            last = pictures[:, -1]
            noise = float(np.mean(np.var(last, axis=0, ddof=1))) / seeds
            asked = 2 * goal if options.quick else goal
            each = {how: _to(renderer, last.mean(axis=0), noise, asked, how) for how in ("off", "on")}
            data["adaptive"][name] = {"goal": asked, **each}
        renderer.release()
    return Result(data, [_estimate_table(data), _adaptive_table(data)], _figure(data))


def measured(pictures: NDArray[np.floating]) -> NDArray[np.float64]:
    """(S, K) relative errors of pictures (S, K, H, W): luminance, of S seeds with K numbers of samples, more and more.

    Against the mean of the other seeds' last ones, whose variance, known by how they differ, is taken off the square.
    """
    last = pictures[:, -1].astype(np.float64)
    seeds, sums, noise = len(last), last.sum(axis=0), float(np.mean(np.var(last, axis=0, ddof=1)))
    squares = [
        [float(np.mean((one - (sums - last[seed]) / (seeds - 1)) ** 2)) - noise / (seeds - 1) for one in series]
        for seed, series in enumerate(pictures)
    ]
    return np.sqrt(np.maximum(squares, 0.0)) / float(last.mean())


def _apart(luminance: NDArray[np.floating], truth: NDArray[np.float64], noise: float = 0.0) -> float:
    """The relative error of a picture (H, W) by another one, of which the variance is taken off."""
    return float(np.sqrt(max(float(np.mean((luminance - truth) ** 2)) - noise, 0.0)) / truth.mean())


def _series(
    renderer: viewer.Renderer, size: tuple[int, int], seed: int, samples: tuple[int, ...]
) -> tuple[list[NDArray[np.float32]], list[float]]:
    """The luminance of a picture after so many samples, and the estimates of its error."""
    renderer.update(seed=seed)
    with renderer.device.current():
        film = FilmBuffer(renderer.device, size)
    pictures, told = [], []
    for count in samples:
        for _ in renderer.slices(size, film=film, samples=count):
            pass
        with renderer.device.current():
            told.append(film.error())
            pictures.append((film.film().linear @ LUMINANCE).astype(np.float32))
    with renderer.device.current():
        film.release()
    return pictures, told


def _to(
    renderer: viewer.Renderer, truth: NDArray[np.float64], noise: float, goal: float, how: str
) -> list[dict[str, float]]:
    """Pictures of an error, by adaptive sampling or not, of several seeds."""
    size, found = truth.shape[::-1], []
    renderer.update(adaptive=how)
    renderer.render(size, error=goal)  # compiles
    for seed in ADAPTIVE_SEEDS:
        renderer.update(seed=seed)
        began = time.process_time()
        picture = renderer.render(size, error=goal)
        seconds = time.process_time() - began
        assert picture.film is not None
        luminance = picture.linear.astype(np.float64) @ LUMINANCE
        found.append(
            {
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


def _adaptive_table(data: dict[str, Any]) -> Table:
    rows = []
    for name, found in data["adaptive"].items():
        for how in ("off", "on"):
            one = {key: float(np.mean([each[key] for each in found[how]])) for key in found[how][0]}
            # An error falls about with the root of the time: seconds to the goal itself, were it met exactly.
            work = float(np.mean([each["seconds"] * each["error"] ** 2 for each in found[how]])) * 1e2
            values = (100 * one["told"], 100 * one["error"], one["samples"], one["most"], one["seconds"], work)
            rows.append((name, f"{how}, {100 * found['goal']:g} %", *values))
    note = "Means of two seeds. Work: 100 times CPU seconds times the square of the error, the same at every error."
    heads = ("picture", "adaptive", "told %", "error %", "samples", "most", "CPU s", "work")
    return Table("Pictures of an error", heads, rows, note)


def _figure(data: dict[str, Any]) -> Any:
    made = plots.figure(6.4, 4.4)
    if made is None or not data["estimates"]:
        return None
    figure, (panel,) = made
    for number, (name, found) in enumerate(data["estimates"].items()):
        ratios = np.exp(np.log(np.array(found["told"]) / np.array(found["errors"])).mean(axis=0))
        look: dict[str, Any] = {"color": plots.COLORS[number % 6], "marker": plots.MARKERS[number % 6]}
        panel.semilogx(found["samples"], ratios, label=name, linewidth=1.2, markersize=3.5, base=2, **look)
    panel.axhspan(0.75, 1.25, color="0.93")
    panel.set_xlabel("samples of a pixel")
    panel.set_ylabel("estimated error / error")
    panel.legend(frameon=False, fontsize=7)
    return figure

"""The estimate of a picture's error, and what adaptive sampling saves.

Errors are root mean square over pixels, of the luminance, by the picture's mean: what `viewer.film.film.Film.error`
estimates. The truth is the reference's mean, whose own variance is taken off; of the Cornell box, where at 64 samples
Sobol's points err less than 4,096 independent samples do, a picture of our own with another seed and 512 samples.
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

# Reference -> scene, seeds, relative error that is asked of adaptive sampling.
PICTURES = {
    "cornell_direct_128": ("cornell", 2, None),
    "cornell_depth5_128": ("cornell", 2, 0.05),
    "cornell_gi_128": ("cornell", 2, None),
    "bunny_ground_depth5_256": ("bunny_ground", 1, 0.03),
    "glass_sphere_256": ("glass_sphere", 1, 0.3),
    "metal_ring_256": ("metal_ring", 1, 0.4),
}
SAMPLES = (8, 16, 32, 64, 128, 256)
OWN = 512  # samples of a truth of our own


class _Truth:
    """What errors are measured by."""

    def __init__(self, renderer: viewer.Renderer, reference: Reference, own: bool) -> None:
        self.mean, self.variance, self.size = reference.mean, float(np.mean(reference.stderr**2)), reference.size
        if own:
            renderer.update(seed=1001)
            self.mean = renderer.render(self.size, spp=OWN).linear.astype(np.float64) @ LUMINANCE
            self.variance = 0.0

    def error(self, linear: NDArray) -> float:
        """The relative error of a picture (H, W, 3), linear sRGB."""
        square = float(np.mean((linear.astype(np.float64) @ LUMINANCE - self.mean) ** 2)) - self.variance
        return float(np.sqrt(max(square, 0.0)) / self.mean.mean())


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
        renderer = viewer.Renderer(loaded, device=device, machine="singlepass", depth=edges - 1)
        truth = _Truth(renderer, reference, scene == "cornell")
        found = [_estimates(renderer, truth, seed, samples) for seed in range(seeds)]
        data["estimates"][name] = {"samples": samples, "errors": [f[0] for f in found], "told": [f[1] for f in found]}
        if goal is not None:
            data["adaptive"][name] = {"goal": goal, **{how: _to(renderer, truth, goal, how) for how in ("off", "on")}}
        renderer.release()
    return Result(data, [_estimate_table(data), _adaptive_table(data)], _figure(data))


def _estimates(
    renderer: viewer.Renderer, truth: _Truth, seed: int, samples: tuple[int, ...]
) -> tuple[list[float], list[float]]:
    """Errors and their estimates after so many samples."""
    renderer.update(seed=seed)
    with renderer.device.current():
        film = FilmBuffer(renderer.device, truth.size)
    errors, told = [], []
    for count in samples:
        for _ in renderer.slices(truth.size, film=film, samples=count):
            pass
        with renderer.device.current():
            told.append(film.error())
            errors.append(truth.error(film.film().linear))
    with renderer.device.current():
        film.release()
    return errors, told


def _to(renderer: viewer.Renderer, truth: _Truth, goal: float, how: str) -> dict[str, float]:
    """A picture of an error, by adaptive sampling or not."""
    renderer.update(adaptive=how, seed=1)
    renderer.render(truth.size, error=0.9 if how == "off" else goal)  # compiles
    began = time.process_time()
    picture = renderer.render(truth.size, error=goal)
    seconds = time.process_time() - began
    assert picture.film is not None
    return {
        "seconds": seconds,
        "samples": float(picture.film.count.mean()),
        "most": float(picture.film.count.max()),
        "told": picture.film.error(),
        "error": truth.error(picture.linear),
        "mean": float((picture.linear @ LUMINANCE).mean() / truth.mean.mean() - 1),
    }


def _estimate_table(data: dict[str, Any]) -> Table:
    rows = []
    for name, found in data["estimates"].items():
        ratios = np.array(found["told"]) / np.array(found["errors"])
        rows.append((name, *np.exp(np.log(ratios).mean(axis=0)).tolist()))
    counts = next(iter(data["estimates"].values()), {"samples": SAMPLES})["samples"]
    note = "The estimate by the error, the geometric mean over seeds."
    return Table("Estimated errors", ("picture", *(f"{n} samples" for n in counts)), rows, note)


def _adaptive_table(data: dict[str, Any]) -> Table:
    rows = []
    for name, found in data["adaptive"].items():
        for how in ("off", "on"):
            one = found[how]
            values = (100 * one["told"], 100 * one["error"], one["samples"], one["most"], one["seconds"])
            # An error falls about with the root of the time: seconds to the goal itself, were it met exactly.
            rows.append((name, f"{how}, {100 * found['goal']:g} %", *values, one["seconds"] * one["error"] ** 2 * 1e2))
    note = "Work: CPU seconds times the square of the error, by 100: what is the same for one sampler at every error."
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

"""Noise at equal counts of samples, of the benchmark of convergence: models of glTF.

DamagedHelmet and ToyCar under ``lobes.hdr``, as in ``gltf_refs``, beside Cycles by its own importer. They have
references of few samples only, so that the variance is that between a renderer's own pictures of unlike seeds, over
the square of the mean picture, or of a tenth of its mean; work is variance times CPU seconds: the relative time for
equal noise, at any number of samples.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Options, Table, cpus, say
from benchmarks.errors import DARKEST, LUMINANCE, block_means
from benchmarks.noise.peers import Job, Missing, Process
from benchmarks.scenes import _file, shared

FIRST_SEED = 2000
BLOCK = 8
MODELS, MODEL_SAMPLES, MODEL_SEEDS = ("DamagedHelmet", "ToyCar"), 16, 5
OF_MODELS = {
    "Raystream sobol": ("peers_raystream", "multipass", "sobol"),
    "Raystream zorder": ("peers_raystream", "multipass", "zorder"),
    "Raystream singlepass, sobol": ("peers_raystream", "singlepass", "sobol"),
    "Cycles": ("peers_cycles", "CPU", "TABULATED_SOBOL"),
    "Cycles, blue noise": ("peers_cycles", "CPU", "BLUE_NOISE"),
}
AGREE = 0.05  # of the means of 20 x 20 blocks of a model, root mean square


def model_rows(name: str, options: Options, missing: list[str]) -> dict[str, Any]:
    """Variances and work of every renderer, taking turns, seed by seed. Raises Absent without the references."""
    folder = shared() / "gltf_refs"
    about = json.loads(_file(folder / f"{name}.json").read_text(encoding="utf-8"))
    with np.load(_file(folder / f"{name}.npz")) as held:
        found = held.get("ggx_lobes")
    reference = None if found is None else found.astype(np.float64) @ LUMINANCE
    camera = {key: about["camera"][key] for key in ("origin", "target", "up", "fov_vertical")}
    base: dict[str, Any] = {"scene": str(_file(shared() / "scenes" / "models" / about["model"])), "arrays": ""}
    base |= {"size": (about["size"], about["size"]), "surfaces": about["settings"]["same_depth_in_raystream"]}
    base |= {"threads": cpus(), "device": options.device}
    base["view"] = {**camera, "environment": str(_file(folder / "lobes.hdr"))}
    out: dict[str, Any] = {"size": base["size"], "samples": MODEL_SAMPLES, "renderers": {}}
    with ExitStack() as stack:
        processes: dict[str, Process] = {}
        for title, (module, variant, sampler) in OF_MODELS.items():
            job = Job(title=title, module=module, variant=variant, sampler=sampler, **base)
            try:
                processes[title] = stack.enter_context(Process(job))
            except Missing as error:
                missing.append(str(error))
        shots: dict[str, list[Any]] = {title: [] for title in processes}
        for seed in range(2 if options.quick else MODEL_SEEDS):
            for title, process in processes.items():
                say(f"{name}: {title}, seed {seed + 1}")
                shots[title].append(process.render(MODEL_SAMPLES, FIRST_SEED + seed))
        averages: dict[str, NDArray[np.float64]] = {}
        for title, several in shots.items():
            pictures = np.stack([shot.picture.astype(np.float64) @ LUMINANCE for shot in several])
            cpu = float(np.median([shot.cpu_seconds for shot in several]))
            row = {"version": processes[title].version, "cpu_seconds": cpu, "off": None}
            averages[title] = pictures.mean(axis=0)
            row |= {f"variance_{edge}": variance(pictures, edge) for edge in (1, BLOCK)}
            out["renderers"][title] = row
    if reference is None:  # none under these lights: that of Cycles itself
        reference = next((mean for title, mean in averages.items() if title == "Cycles"), None)
    if reference is not None:
        scale = np.maximum(block_means(reference, 20), 0.02)
        for title, mean in averages.items():
            off = block_means(mean, 20) - block_means(reference, 20)
            out["renderers"][title]["off"] = float(np.sqrt(np.mean((off / scale) ** 2)))
    return out


def variance(pictures: NDArray[np.float64], edge: int) -> float:
    """Of blocks, between pictures (N, H, W) of luminance, over the squared mean; the mean over all blocks."""
    blocks = np.stack([block_means(picture, edge) for picture in pictures])
    mean = blocks.mean(axis=0)
    return float(np.mean(blocks.var(axis=0, ddof=1) / np.maximum(mean, DARKEST * mean.mean()) ** 2))


def model_table(name: str, data: dict[str, Any]) -> Table:
    """Noise, CPU seconds and work; work beside that of Cycles, where it is there."""
    rows = data["renderers"]
    lines: list[tuple[Any, ...]] = []
    for title, row in rows.items():
        works = [row[f"variance_{edge}"] * row["cpu_seconds"] for edge in (1, BLOCK)]
        best = [
            min((r[f"variance_{edge}"] * r["cpu_seconds"] for t, r in rows.items() if "Cycles" in t), default=None)
            for edge in (1, BLOCK)
        ]
        noise = [100 * row[f"variance_{edge}"] ** 0.5 for edge in (1, BLOCK)]
        shares: list[Any] = [work / other if other else None for work, other in zip(works, best, strict=True)]
        off = None if row["off"] is None else 100 * row["off"]
        shares = shares if off is None or off <= 100 * AGREE else ["void", "void"]
        lines.append((f"{title} ({row['version']})", *noise, row["cpu_seconds"], *shares, off))
    columns = ("renderer", "pixels %", f"{BLOCK} x {BLOCK} %", "CPU s", "work: pixels", "blocks", "off %")
    note = (
        f"{data['size'][0]} x {data['size'][1]}, {data['samples']} samples, under lobes.hdr. Relative RMS noise "
        "between a renderer's own pictures; work: its square times CPU seconds, beside that of the better of Cycles' "
        "patterns. "
        f"off: of the mean of 20 x 20 blocks against the reference's of one scattering (if there is one under "
        f"these lights; else of Cycles), RMS; void beyond {100 * AGREE:g} %."
    )
    return Table(f"{name}: time for equal noise", columns, lines, note)

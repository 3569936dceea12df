"""Trials of the options of machines on a scene that is asked for, of which `viewer.renderer.device.tuning` keeps the
results: what ``raystream devices --measure`` does. See `viewer.renderer.session.trials` for those that nobody asks for.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack

from viewer.film.device_film import FilmBuffer
from viewer.renderer.device.tuning import Preparation, Run, Trial, chosen_by, defaults, save_tuning, trials
from viewer.renderer.renderer import Renderer
from viewer.renderer.session.trials import sample_run

SMALLEST, LARGEST = 64, 1024  # width of the picture of the trials, pixels
LEAST_SECONDS = 0.005  # that it takes


def measure(renderer: Renderer) -> tuple[dict[str, str], list[Trial]]:
    """Measure on a renderer's scene what ``auto`` means on its device, and keep it for the driver build; the values by
    option, and the trials."""
    clock = time.process_time if renderer.device.software else time.perf_counter  # others work on the same processor
    first = defaults(renderer.device.software_form)
    with ExitStack() as made:
        runs = _Runs(renderer, made, first)
        told = [trial for trial in trials(runs.prepare, clock, first) if trial is not None]
    chosen = chosen_by(told, first)
    save_tuning(renderer.device.driver, chosen, told)
    return chosen, told


class _Runs:
    """Samples of a picture by any values of the options."""

    def __init__(self, renderer: Renderer, made: ExitStack, first: Mapping[str, str]) -> None:
        """made : gives back what is made. first : the values before any trial."""
        self.made = made
        self.renderers = {"buffer" if renderer.device.max_buffer else "texture": renderer}
        self.width = SMALLEST
        while self.width < LARGEST:
            run = self._run(renderer, first)
            began = time.perf_counter()
            run()
            if time.perf_counter() - began >= LEAST_SECONDS:
                break
            self.width *= 2

    def prepare(self, values: Mapping[str, str]) -> Preparation:
        """See `trials`."""
        yield
        memory = values["memory"]
        if memory not in self.renderers:
            first = next(iter(self.renderers.values()))
            other = Renderer(first.prepared, first.settings.replace(memory=memory))
            self.made.callback(other.release)
            # A device without large buffers has textures for them.
            self.renderers[memory] = other if memory == "texture" or other.device.max_buffer else first
        renderer = self.renderers[memory]
        return None if memory == "texture" and self.renderers.get("buffer") is renderer else self._run(renderer, values)

    def _run(self, renderer: Renderer, values: Mapping[str, str]) -> Run:
        """A sample of every pixel, traced once so that all is compiled."""
        asked = {name: word for name, word in values.items() if name != "memory"}
        size, device = (self.width, self.width), renderer.device
        plan = renderer.plan(size, settings=renderer.settings.replace(machine="multipass", **asked))
        with device.current():
            film = FilmBuffer(device, size) if renderer.progressive else None
        if film is not None:
            self.made.callback(_release, film)

        run = sample_run(renderer.sampler, plan, film)
        run()
        return run


def _release(film: FilmBuffer) -> None:
    with film.device.current():
        film.release()

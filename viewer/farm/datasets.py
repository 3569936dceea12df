"""Pictures of datasets by the workers of a cluster: a picture is a unit, and its files travel back as bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from viewer.dataset.picture import FinishedPicture
from viewer.dataset.stage import DatasetStage
from viewer.farm import worker
from viewer.farm.cluster import connected
from viewer.farm.work import Task, Work


def render_dataset(
    stage: DatasetStage,
    numbers: Sequence[int],
    cluster: str,
    mix_builds: bool = False,
    notify: Callable[[str], None] | None = None,
) -> Iterator[FinishedPicture]:
    """The pictures of these numbers, in any order. cluster, mix_builds : as of `viewer.farm.render`. notify : called
    with remarks on workers."""
    with connected(cluster) as client:
        work = Work(client, mixed=mix_builds, notify=notify)
        held = work.hold(stage)
        tasks = [Task(k, f"picture {k}", worker.dataset_picture, (held, k)) for k in numbers]
        for _, made in work.run(tasks, held):
            yield made

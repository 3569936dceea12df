"""Steps of a photon map counted as steps of the picture: one slow one, and the picture was cut into the least of
pieces, of which each turn of the window then began but one."""

from __future__ import annotations

from viewer.renderer.preview.scheduler import LEAST_ROWS, TileRows


def test_a_slow_step_is_forgotten() -> None:
    pace = TileRows(256)
    pace.note(0.5)
    steps = 0
    while pace.expected > 0.01:
        pace.note(0.001)
        steps += 1
    assert steps <= 12  # 0.7 to the 11th is a fiftieth


def test_a_map_is_no_piece(device: object) -> None:
    """Whatever its steps take, the rows of the next piece are chosen by what the pieces take."""
    import viewer
    from viewer import Renderer
    from viewer.renderer.sampling.sampler import Tracer
    from viewer.renderer.session.session import Session

    noted: list[bool] = []

    class Watched(TileRows):
        def note(self, seconds: float) -> None:
            noted.append(renderer.mapping)
            super().note(seconds)

    renderer: Tracer = Renderer(
        viewer.load("cornell"), device=device, program="photon", machine="singlepass", photons=64, photon_bounces=1
    )
    session = Session(renderer, (8, 6))
    session.scheduler.tile_rows = Watched(LEAST_ROWS)
    session.finish()
    session.release()
    maps = renderer.photon_maps
    assert maps is not None and maps.traced == 1 and session.steps > len(noted) > 0 and not any(noted)

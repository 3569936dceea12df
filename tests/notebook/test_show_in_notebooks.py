"""``raystream.show`` of a process: where it is a notebook's, and where not."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

import raystream
from raystream.notebook import show

pytest.importorskip("rendercanvas", reason="rendercanvas is not installed")
pytest.importorskip("anywidget", reason="anywidget, of rendercanvas[notebook], is not installed")


def kernel(monkeypatch: pytest.MonkeyPatch, shell: Any) -> None:
    """Pretend that IPython runs this."""
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("shell", "found"), [(None, False), (SimpleNamespace(), False), (SimpleNamespace(kernel=object()), True)]
)
def test_where_it_runs(monkeypatch: pytest.MonkeyPatch, shell: Any, found: bool) -> None:
    """A plain Python with IPython loaded, its terminal, and a kernel."""
    kernel(monkeypatch, shell)
    assert show.in_notebook() is found


def test_spyder_shows_no_widgets(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel(monkeypatch, SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "spyder_kernels", SimpleNamespace())  # type: ignore[arg-type]
    assert not show.in_notebook()


@pytest.mark.parametrize("running", [False, True])
def test_the_kernel_of_marimo(monkeypatch: pytest.MonkeyPatch, running: bool) -> None:
    """It is no IPython's; a script that imports marimo is no notebook."""
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    monkeypatch.setitem(sys.modules, "marimo", SimpleNamespace(running_in_notebook=lambda: running))  # type: ignore[arg-type]
    assert show.in_notebook() is running


def test_ipython_is_not_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not show.in_notebook() and "IPython" not in sys.modules


@pytest.mark.parametrize(
    ("missing", "listed"),
    [(("anywidget",), "anywidget"), (("rendercanvas",), "rendercanvas"), ((), "")],
)
def test_a_part_of_the_extra_is_missing(monkeypatch: pytest.MonkeyPatch, missing: tuple[str, ...], listed: str) -> None:
    from raystream.notebook import widget as module

    kernel(monkeypatch, SimpleNamespace(kernel=object()))
    monkeypatch.setattr(show, "find_spec", lambda name: None if name in missing else object())
    monkeypatch.setattr(module, "Widget", lambda scene, **options: (scene, options))
    if missing:
        with pytest.raises(raystream.ViewerError) as fault:
            raystream.show("cornell", spp=3)
        assert str(fault.value) == f"notebook: the widget needs {listed} (%pip install 'raystream[notebook]')"
    else:
        assert raystream.show("cornell", spp=3) == ("cornell", {"spp": 3})


def test_elsewhere_it_is_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any part of the extra, and with the same options."""
    import raystream.window.opening as window

    opened: list[Any] = []
    monkeypatch.setattr(window, "show", lambda scene, **options: opened.append((scene, options)) or 3)
    monkeypatch.setattr(show, "in_notebook", lambda: False)
    monkeypatch.setattr(show, "find_spec", lambda name: None)
    assert raystream.show("cornell", spp=3, size=(8, 6)) is None
    assert opened == [("cornell", {"spp": 3, "size": (8, 6)})]

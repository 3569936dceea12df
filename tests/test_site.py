"""The site: all pages, files and names are staged, links lead to staged files, and the generator accepts them."""

from __future__ import annotations

import importlib
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

import raystream

ROOT = Path(__file__).resolve().parents[1]


def _loaded() -> ModuleType:
    """``tools/site.py``, whose name is a module's of the standard library."""
    spec = importlib.util.spec_from_file_location("raystream_site", ROOT / "tools" / "site.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


site = _loaded()
pytestmark = pytest.mark.skipif(
    not (ROOT / "assets" / "pictures").is_dir(), reason="pictures are in the repository alone"
)


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The folder and its pages, with a gallery without pictures."""
    folder = tmp_path_factory.mktemp("site")
    names = site.stage(folder)
    site.gallery(folder, 0)
    return folder, names


def test_every_page_is_there_once(staged: tuple[Path, list[str]]) -> None:
    folder, names = staged
    assert len(names) == len(set(names)) and all((folder / name).is_file() for name in names)
    pages = [path for path in ROOT.rglob("README.md") if path.parts[len(ROOT.parts)] in (*site.FOLDERS, "README.md")]
    assert {site.place(path) for path in pages} | {"project/CHANGELOG.md", "project/CONTRIBUTING.md"} <= set(names)
    listed = re.findall(r"^[\w/.-]+$", site.menu(names), re.MULTILINE)
    assert sorted(listed) == sorted(name.removesuffix(".md") for name in (*names, "gallery.md") if name != "index.md")


def test_links_lead_to_staged_files(staged: tuple[Path, list[str]]) -> None:
    """Of every page, also to what is no page."""
    folder, names = staged
    wrong, count = [], 0
    for name in (*names, "gallery.md"):
        text = re.sub(r"^```.*?^```$", "", (folder / name).read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        for link in re.findall(r"\]\(([^)\s#]+)(?:#[\w-]+)?\)", text):
            count += 1
            if not re.match(r"\w+:", link) and not ((folder / name).parent / link).is_file():
                wrong.append((name, link))
    assert not wrong and count > 300


def test_the_reference_has_every_public_name(staged: tuple[Path, list[str]]) -> None:
    """With its docstring, and the methods of classes."""
    folder, _ = staged
    for name in set(raystream.__all__) - {"__version__", "farm", "pyrender"}:
        text = (folder / "reference" / f"{name}.md").read_text(encoding="utf-8")
        first = (getattr(raystream, name).__doc__ or "").split()[0]
        assert text.startswith(f"# {name}\n") and first.strip("`") in text, name
    renderer = (folder / "reference" / "Renderer.md").read_text(encoding="utf-8")
    assert "## trace\n" in renderer and "## _" not in renderer
    index = (folder / "reference" / "index.md").read_text(encoding="utf-8")
    assert all(f"`raystream.{name}`" in index for name in raystream.__all__ if name != "__version__")


def test_folders_without_a_page_come_last_in_the_menu(staged: tuple[Path, list[str]]) -> None:
    captions = site.menu(staged[1]).split(":caption: ")
    assert captions[-1].startswith("Folders\n") and "viewer/kernels/index" in captions[-1]
    assert not any(site._is_listing(f"{line}.md") for part in captions[:-1] for line in part.splitlines())


def test_documented_names_are_entries_of_a_list() -> None:
    """At the start of a line, behind a sentence, and over the end of a line; code is no entry."""
    markdown = importlib.import_module("site_reference")._markdown
    text = "Purpose.\n\nsize   : of the\n         picture. spp, seed : numbers. lenient :\nwords\n\nRaises: x"
    entries = "- **size**: of the\npicture.\n- **spp, seed**: numbers.\n- **lenient**: words"
    assert markdown(text) == f"Purpose.\n\n{entries}\n\nRaises: x"

"""Builds the site: ``python tools/site.py [--out build/site] [--size N]``, with ``pip install ".[docs]"``.

The repository's pages as they stand, with search; an API reference from the docstrings (site_reference.py); a gallery
whose pictures the examples make. Files and folders that pages link to are part of the site. A link or an anchor that
leads nowhere is an error. ``--size 0`` leaves the gallery's pictures out.
"""

from __future__ import annotations

import argparse
import ast
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from site_reference import reference

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("viewer", "shaders", "tests", "tools", "assets", ".github")
EXAMPLES = ROOT / "tools" / "examples"
GALLERY = "gallery.md"

_LINK = re.compile(r"(\]\()([^)\s]+)(\))")
_FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
# Sections of the menu, in order, by the folder of a page; the rest of viewer/ goes by folders.
_SECTIONS = (
    ("Tutorials", "tools/tutorials/"),
    ("How it works", "viewer/"),
    ("Shaders", "shaders/"),
    ("Tests", "tests/"),
    ("Tools", "tools/"),
    ("Assets", "assets/"),
    ("Project", "project/"),
)


def pages() -> list[Path]:
    """The Markdown files of the repository, but for the templates of issues."""
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.md"))]
    return [ROOT / "README.md", *(path for path in files if path.parent.name != "ISSUE_TEMPLATE")]


def place(path: Path) -> str:
    """Where a file or folder of the repository is in the site."""
    if path == ROOT / "README.md":
        return "index.md"
    return path.relative_to(ROOT).as_posix().replace(".github", "project")  # the generator reads no hidden folders


def stage(folder: Path) -> list[str]:
    """Write pages, reference and all that they link to into a folder; the places of the pages, in order."""
    staged: list[str] = []
    listed: list[str] = []
    linked: set[Path] = set()
    for page in pages():
        text, targets = _relinked(page)
        _write(folder / place(page), text)
        staged.append(place(page))
        linked |= targets
    for target in sorted(linked - set(pages())):
        if target.is_file():
            shutil.copy(target, _with_folder(folder / place(target)))
        elif not (target / "README.md").exists():
            _write(folder / place(target) / "index.md", _listing(target, folder))
            listed.append(f"{place(target)}/index.md")
    for name, text in reference():
        _write(folder / name, text)
        staged.append(name)
    return [*staged, *listed]


def _write(path: Path, text: str) -> None:
    _with_folder(path).write_text(text, encoding="utf-8")


def _relinked(page: Path) -> tuple[str, set[Path]]:
    """A page with the site's links, lists set off from the text before them, and what the links lead to."""
    targets: set[Path] = set()

    def led(match: re.Match[str]) -> str:
        link, _, anchor = match[2].partition("#")
        if re.match(r"\w+:", link) or not link:
            return match[0]
        target = (page.parent / link).resolve()
        if target.is_dir():
            target = target / "README.md" if (target / "README.md").exists() else target
        targets.add(target)
        to = place(target / "index.md") if target.is_dir() else place(target)
        relative = posixpath.relpath(to, posixpath.dirname(place(page)) or ".")
        return f"{match[1]}{relative}{'#' + anchor if anchor else ''}{match[3]}"

    text, parts, at = page.read_text(encoding="utf-8"), [], 0
    for fence in _FENCE.finditer(text):
        parts += [_lists(_LINK.sub(led, text[at : fence.start()])), fence[0]]
        at = fence.end()
    return "".join([*parts, _lists(_LINK.sub(led, text[at:]))]), targets


def _lists(text: str) -> str:
    """Text with the generator's anchors, whose lists follow an empty line."""
    text = re.sub(r'<a id="([\w-]+)"></a>', r"[]{#\1}", text)
    return re.sub(r"^((?![-\s]|\d+\.).+\n)(?=(?:-|\d+\.) )", r"\1\n", text, flags=re.MULTILINE)


def _listing(folder: Path, site: Path) -> str:
    """A page on a folder without one: its files, which become part of the site."""
    paths = [path for path in sorted(folder.iterdir()) if path.is_file() and not path.name.startswith((".", "__"))]
    for path in paths:
        shutil.copy(path, _with_folder(site / place(path)))
    rows = [f"- [{path.name}]({path.name})" for path in paths] or ["Folders alone."]
    return f"# {folder.relative_to(ROOT).as_posix()}\n\n" + "\n".join(rows) + "\n"


def _with_folder(path: Path) -> Path:
    """A path whose folder is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def gallery(folder: Path, size: int) -> str:
    """Run the examples, and write their pictures and a page with them; its place. size : edge, pixels; 0: no
    pictures."""
    parts = ["# Gallery", "Pictures of the [examples](tools/examples/index.md), each by the code below it."]
    for script in sorted(EXAMPLES.glob("[0-9]*.py")):
        code = script.read_text(encoding="utf-8")
        title = (ast.get_docstring(ast.parse(code)) or "").splitlines()[0]
        parts.append(f"## {title.rstrip('.')}")
        if size:
            packages = os.pathsep.join((str(ROOT), str(ROOT / "tools" / "editable")))
            environment = {**os.environ, "EXAMPLE_SIZE": str(size), "PYTHONPATH": packages}
            to = _with_folder(folder / "gallery" / f"{script.stem}.png")
            subprocess.run([sys.executable, str(script)], cwd=to.parent, env=environment, check=True)
            parts.append(f"![{title}](gallery/{to.name})")
        parts.append(f"```python\n{code.strip()}\n```")
    _write(folder / GALLERY, "\n\n".join(parts) + "\n")
    return GALLERY


def menu(staged: Sequence[str]) -> str:
    """The menu, as hidden lists of contents for the first page: every page once."""
    sections, folders = [("Pictures", [GALLERY])], [name for name in staged if _is_listing(name)]
    remaining = [name for name in staged if name != "index.md" and name not in folders]
    for title, folder in _SECTIONS:
        members = [name for name in remaining if name.startswith(folder)]
        remaining = [name for name in remaining if name not in members]
        sections.append((title, sorted(members, key=_first)))
    sections += [("Reference", sorted(remaining, key=_first)), ("Folders", sorted(folders))]
    lists = [
        f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n" + "\n".join(name.removesuffix(".md") for name in names)
        for title, names in sections
    ]
    return "\n\n" + "\n```\n\n".join(lists) + "\n```\n"


def _is_listing(place: str) -> bool:
    """Whether a page is the list of files of a folder without a page of its own."""
    return place.endswith("/index.md") and not place.startswith("reference/")


def _first(name: str) -> tuple[str, bool, str]:
    """A folder's own page before its others."""
    folder, _, file = name.rpartition("/")
    return folder, file not in ("README.md", "index.md"), file


SETTINGS = """
project, html_title = "Raystream", "Raystream"
extensions, html_theme = ["myst_parser"], "furo"
myst_heading_anchors, myst_enable_extensions = 4, ["attrs_inline"]
html_copy_source, html_show_copyright = False, False
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Build it; the generator's exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site", help="the folder of the site")
    parser.add_argument("--size", type=int, default=360, help="edge of the gallery's pictures, pixels; 0: none")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        docs = Path(folder) / "docs"
        staged = stage(docs)
        gallery(docs, options.size)
        with open(docs / "index.md", "a", encoding="utf-8") as first:
            first.write(menu(staged))
        _write(docs / "conf.py", SETTINGS)
        command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", str(Path(folder) / "read")]
        return subprocess.run([*command, docs, options.out.resolve()], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

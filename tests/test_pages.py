"""The pages: links lead somewhere, commands parse, code runs, tables are as generated, lengths are held."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pages
import pytest
from bench import NAMES, ROOMS

import raystream
from raystream.cli import main as cli
from raystream.options.table import OPTIONS

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
FOLDERS = ("viewer", "shaders", "tests", "tools", "assets", ".github")
PAGES = [README, *sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.md"))]
CONCEPTS = ("accel", "cli", "denoise", "farm", "film", "formats", "lighting", "materials", "notebook", "options")
CONCEPTS += ("dataset", "photons", "programs", "pyrender", "remote", "renderer", "stream", "viewport", "window")

LONGEST, LONGEST_README, WORDS_OF_README = 200, 150, 2500  # lines, lines, words
MEAN = 20  # words of a sentence, on average of a page
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
pytestmark = pytest.mark.skipif(
    not (ROOT / "tools" / "results").is_dir() or not (ROOT / "assets" / "pictures").is_dir(),
    reason="results and pictures are in the repository alone",  # a source distribution goes without
)


def name(path: Path) -> str:
    """From the project's folder."""
    return path.relative_to(ROOT).as_posix()


def prose(text: str) -> str:
    """A page without its code and its generated parts."""
    text = re.sub(r"<!-- made: .*?<!-- /made -->", "", text, flags=re.DOTALL)
    return re.sub(r"<!--.*?-->", "", _FENCE.sub("", text), flags=re.DOTALL)


def blocks(text: str, language: str) -> list[str]:
    """The fenced code of a language."""
    return [code for found, code in _FENCE.findall(text) if found == language]


def sentences(text: str) -> Iterator[str]:
    """Those of paragraphs and list items; tables, headings and pictures have none."""
    paragraphs, now = [], ""
    for line in [*prose(text).splitlines(), ""]:
        item = re.match(r"\s*(?:[-*]|\d+\.)\s+", line)
        if not line.strip() or line.lstrip().startswith(("|", "#", "![", "<")) or item:
            paragraphs.append(now)
            now = line[item.end() :] if item else ""
        else:
            now = f"{now} {line.strip()}"
    for paragraph in [*paragraphs, now]:
        plain = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "code", paragraph)).strip()
        yield from filter(None, re.split(r"(?<=[.!?:])\s+(?=[A-Z\[*(\"\d]|code)", plain))


def anchors(path: Path) -> set[str]:
    """The anchors of a page: of headings as GitHub makes them, and of its own; of HTML, of its sections."""
    found, text = set(), path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        return set(re.findall(r'<section id="([\w-]+)">', text))
    for heading in re.findall(r"^#+ (.*)$", _FENCE.sub("", text), re.MULTILINE):
        plain = re.sub(r"\]\([^)]*\)", "", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found | set(re.findall(r'<a id="([\w-]+)">', text))


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_links_lead_somewhere(path: Path) -> None:
    """Relative ones, within the project; with an anchor that the page has."""
    wrong = []
    for link in _LINK.findall(_FENCE.sub("", path.read_text(encoding="utf-8"))):
        if re.match(r"https?://", link):
            continue
        target, _, anchor = link.partition("#")
        there = (path.parent / target).resolve() if target else path
        inside = there.is_relative_to(ROOT) and there.exists()
        if not inside or (anchor and anchor not in anchors(there)):
            wrong.append(link)
    assert not wrong


def test_every_page_can_be_reached() -> None:
    """By links from the README on."""
    reached, left = set(), [README]
    while left:
        path = left.pop()
        reached.add(path)
        for link in _LINK.findall(path.read_text(encoding="utf-8")):
            there = (path.parent / link.partition("#")[0]).resolve()
            if there.suffix == ".md" and there.exists() and there not in reached:
                left.append(there)
    assert {name(path) for path in PAGES} == {name(path) for path in reached}


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_paths_in_the_text_exist(path: Path) -> None:
    """Of files of the code, from the project's folder, the page's or the package's."""
    found = re.findall(r"`([\w.]+(?:/[\w.]+)+\.(?:py|glsl|toml|json|html))`", prose(path.read_text(encoding="utf-8")))
    places = ROOT, path.parent, ROOT / "viewer"
    assert not [each for each in found if not any((place / each).exists() for place in places)]


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_pages_are_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= (LONGEST_README if path == README else LONGEST)
    assert path != README or len(text.split()) <= WORDS_OF_README


@pytest.mark.parametrize("path", [path for path in PAGES if path.name == "README.md"], ids=name)
def test_sentences_are_short(path: Path) -> None:
    lengths = [len(each.split()) for each in sentences(path.read_text(encoding="utf-8"))]
    assert lengths and sum(lengths) <= MEAN * len(lengths)


@pytest.mark.parametrize("page", pages.PAGES)
def test_tables_are_as_generated(page: str) -> None:
    """`python tools/pages.py` writes them."""
    text = (ROOT / page).read_text(encoding="utf-8")
    assert "<!-- made: " in text and pages.made(text) == text


def test_types_of_options_are_as_generated() -> None:
    assert (ROOT / pages.STUB).read_text(encoding="utf-8") == pages.options_stub()


def test_every_benchmark_is_listed() -> None:
    text = (ROOT / "tools" / "README.md").read_text(encoding="utf-8")
    table = text.partition("| folder | names |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| \[(\w+)\]\(benchmarks/\1\).*\| (.+) \|$", table, re.MULTILINE)
    assert {room: tuple(re.findall(r"`([\w-]+)`", names)) for room, names in rows} == ROOMS


def test_a_cell_that_is_not_there() -> None:
    with pytest.raises(LookupError, match=r"accel\.json: no cell of column 'weight' in table 'builds'"):
        pages._shown("llvmpipe-amd-epyc-2-cpus/accel.json", ["builds", "bunny: bvh, stack", "weight", ".0f"])


def test_mended_bugs_by_the_heads_of_their_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first paragraph, in one line of a table; a file without any is refused."""
    monkeypatch.setattr(pages, "REPRO", tmp_path)
    (tmp_path / "test_of_two.py").write_text('"""A ``b | c``\nwas lost.\n\nMore of it.\n"""\n', encoding="utf-8")
    (tmp_path / "help.py").write_text("", encoding="utf-8")
    rows = pages.bugs().splitlines()
    assert rows[2:] == ["| [of two](test_of_two.py) | A `b \\| c` was lost. |"]
    (tmp_path / "test_bare.py").write_text("def test_it(): ...\n", encoding="utf-8")
    with pytest.raises(LookupError, match=r"test_bare\.py: no docstring"):
        pages.bugs()


# -- code --------------------------------------------------------------------------------------------------------------


def lines_of(path: Path) -> list[str]:
    """The command lines of a page's blocks, continued ones in one."""
    found = "\n".join(blocks(path.read_text(encoding="utf-8"), "sh"))
    return [line for line in found.replace("\\\n", " ").splitlines() if line.strip()]


# Those of the tutorials are run, in test_tutorials.py.
COMMANDS = [
    (name(path), line)
    for path in PAGES
    if path.parent.name != "tutorials" or path.name == "README.md"
    for line in lines_of(path)
]


@pytest.mark.parametrize(("page", "line"), COMMANDS)
def test_commands_parse(page: str, line: str) -> None:
    """By the command's own parser; scripts and tests exist, and benchmarks by their names."""
    words = shlex.split(line, comments=True)
    if "|" in words:
        words = words[: words.index("|")]
    if "raystream" in words and words[0] in ("raystream", "ssh"):
        command, *arguments = words[words.index("raystream") + 1 :]
        read = cli._parse(command, arguments)
        assert command != "render" or read.output
        if getattr(read, "render", None):
            from raystream.cli.compare import split_words

            assert [cli._parse("render", split_words(text)) for text in read.render]
    elif words[0] in ("python", "bash"):
        assert (ROOT / words[1]).is_file()
        tests = [word for word in words[2:] if word.startswith("tests/")]
        assert all((ROOT / each.partition("::")[0]).exists() for each in tests)
        names = [word for word in words[2:] if not word.startswith("-")]
        assert words[1] != "tools/bench.py" or set(names) <= {*NAMES}
    else:
        assert words[0] == "export"


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_commands_in_the_text_exist(path: Path) -> None:
    """``python tools/name.py``, ``raystream command`` and ``--option`` between back quotes."""
    spans = re.findall(r"`([^`\n]+)`", prose(path.read_text(encoding="utf-8")))
    options = {command.option(each).flag for command in cli.COMMANDS.values() for each in command.options}
    tools = "".join(each.read_text(encoding="utf-8") for each in (ROOT / "tools").glob("*.py"))
    for span in spans:
        words = span.split()
        if words[0] == "python" and words[1:]:
            assert words[1] == "-m" or (ROOT / words[1]).is_file(), span
        if words[0] == "raystream" and words[1:]:
            assert words[1] in (*cli.COMMANDS, "--help", "COMMAND"), span
        for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]+", span):
            known = flag in options or f'"{flag}"' in tools or flag in ("--golden", "--help", "--json")
            assert known or "dask" in span, span


PYTHON = [
    pytest.param(code, id=f"{name(path)}-{number}")
    for path in PAGES
    for number, code in enumerate(blocks(path.read_text(encoding="utf-8"), "python"))
]


@pytest.mark.parametrize("code", PYTHON)
def test_python_has_known_names_and_options(code: str) -> None:
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "raystream":
            assert hasattr(raystream, node.attr), node.attr
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            at = ast.unparse(node.func)
            if at in ("raystream.render", "raystream.show", "raystream.Renderer", "renderer.update", "view.update"):
                used = {keyword.arg for keyword in node.keywords if keyword.arg}  # others are a dictionary's
                assert used <= {*OPTIONS, "up", "stats", "cluster", "scene"}, at


def test_the_readme_s_python_runs(device: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it stands there, with fewer pixels and samples."""
    (code,) = blocks(README.read_text(encoding="utf-8"), "python")
    assert len(code.strip().splitlines()) <= 12
    monkeypatch.chdir(tmp_path)
    known: dict[str, object] = {}
    small = re.sub(r"spp=\d+", "spp=1", code.replace("(256, 256), spp", "(8, 8), spp"))
    exec(compile(small, "README.md", "exec"), known)
    assert {path.name for path in tmp_path.iterdir()} == {"cornell.png", "ring.exr"}
    hits = known["hits"]
    assert isinstance(hits, raystream.Hits) and len(hits.distance) == 1
    known["renderer"].release()  # type: ignore[attr-defined]


def test_citations_name_this_version() -> None:
    """In the README's entry and in the file that citation tools read."""
    entry, file = README.read_text(), (ROOT / ".github" / "CITATION.cff").read_text()
    assert f"version = {{{raystream.__version__}}}" in entry and f"\nversion: {raystream.__version__}\n" in file

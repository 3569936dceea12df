"""Picture files: what is written is read back, whole or not at all; endings, layers, channels and alpha."""

from __future__ import annotations

import json
import math
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from even_pixels import pixels
from PIL import Image

from raystream.base.errors import ViewerError
from raystream.film.files import image
from raystream.film.files.image import MOST_WEBP, Matte, write_webp
from raystream.film.tonemap import automatic_exposure, block_edge, block_means, decode, srgb8

METADATA = {
    "camera": "0.1,2,3 4,5,6 0,1,0",
    "program": "cast",
    "scene": "Bäume ♥",
    "type": "a reserved word",
    "empty": "",
}


def picture(height: int = 33, width: int = 47) -> np.ndarray:
    linear = np.random.default_rng(4).uniform(-0.2, 3, (height, width, 3)).astype(np.float32)
    linear[0, 0] = (np.inf, 0, 1e30)
    return linear


def layers(height: int = 33, width: int = 47) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    depth = rng.uniform(1, 9, (height, width)).astype(np.float32)
    depth[3] = np.inf
    return {
        "depth": depth,
        "normal": rng.normal(size=(height, width, 3)).astype(np.float32),
        "albedo": rng.uniform(size=(height, width, 3)).astype(np.float32),
        "triangle": rng.integers(-1, 1 << 24, (height, width)).astype(np.int32),
        "steps": rng.integers(0, 500, (height, width)).astype(np.int32),
    }


def read_exr(path) -> tuple[dict, dict[str, np.ndarray]]:
    import OpenEXR

    with OpenEXR.File(str(path), separate_channels=True) as file:
        return dict(file.header()), {name: channel.pixels.copy() for name, channel in file.channels().items()}


def test_png(tmp_path) -> None:
    path = tmp_path / "a.PNG"
    image.save(path, picture(), layers(), METADATA, exposure=-1)
    with Image.open(path) as file:
        assert file.mode == "RGB" and file.size == (47, 33)
        np.testing.assert_array_equal(np.asarray(file), srgb8(picture(), exposure=-1))
        assert {key: file.info[key] for key in METADATA} == METADATA
        assert (file.info["exposure"], file.info["tonemap"]) == ("-1", "none")
        assert file.info["srgb"] == 0


@pytest.mark.parametrize("name", ["a.jpg", "b.JPEG"])
def test_jpeg(tmp_path, name) -> None:
    y, x = np.mgrid[0:33, 0:47] / 47
    linear = np.stack([x, y, 0.5 * np.ones_like(x)], axis=-1).astype(np.float32)
    linear[8:16, 8:16] = (1, 0, 0)  # with colours for 2 x 2 pixels, or a low quality, its edge would be off by 50
    image.save(tmp_path / name, linear, layers(), METADATA, exposure=-1, tonemap="aces")
    with Image.open(tmp_path / name) as file:
        assert file.format == "JPEG" and file.mode == "RGB" and file.size == (47, 33)
        apart = np.abs(np.asarray(file).astype(int) - srgb8(linear, -1, "aces"))
        assert apart.max() <= 12 and apart.mean() < 1  # quality 95: quantised cosines, no two codes the same
        comment = file.info["comment"].decode().splitlines()
    assert "scene: Bäume ♥" in comment and comment[-2:] == ["exposure: -1", "tonemap: aces"]


def test_exr(tmp_path) -> None:
    path, linear, extra = tmp_path / "a.exr", picture(), layers()
    image.save(path, linear, extra, METADATA)
    header, channels = read_exr(path)
    assert "ZIP" in str(header["compression"])
    for index, name in enumerate("RGB"):
        np.testing.assert_array_equal(channels[name], linear[..., index])
        np.testing.assert_array_equal(channels[f"albedo.{name}"], extra["albedo"][..., index])
        np.testing.assert_array_equal(channels[f"normal.{'XYZ'[index]}"], extra["normal"][..., index])
    for name in ("depth", "triangle", "steps"):
        np.testing.assert_array_equal(channels[name], extra[name])
    assert {channel.dtype for channel in channels.values()} == {np.dtype(np.float32)}
    assert len(channels) == 12
    assert header["camera"] == METADATA["camera"] and header["scene"] == METADATA["scene"]
    assert header["raystream.type"] == METADATA["type"]


def test_npz(tmp_path) -> None:
    path, linear, extra = tmp_path / "a.npz", picture(), layers()
    image.save(path, linear, extra, METADATA)
    with np.load(path, allow_pickle=False) as data:
        assert set(data) == {"linear", *extra, "metadata"}
        np.testing.assert_array_equal(data["linear"], linear)
        for name, layer in extra.items():
            np.testing.assert_array_equal(data[name], layer)
            assert data[name].dtype == layer.dtype
        assert json.loads(str(data["metadata"])) == METADATA


@pytest.mark.parametrize("there", [False, True])
def test_an_old_file_is_said_to_be_kept_where_there_is_one(tmp_path: Path, there: bool) -> None:
    def full(part: Path) -> None:
        raise OSError(28, "No space left on device")

    target = tmp_path / "a.png"
    if there:
        target.write_bytes(b"old")
    with pytest.raises(ViewerError, match="cannot be written: No space left on device") as error:
        image.write_whole(target, full)
    assert error.value.hint == ("the old file is kept" if there else "")
    assert os.listdir(tmp_path) == (["a.png"] if there else [])


@pytest.mark.parametrize("ending", image.FORMATS)
@pytest.mark.parametrize("fault", [RuntimeError("broken"), KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_the_old_file_stays_when_writing_fails(tmp_path, monkeypatch, ending, fault) -> None:
    path = tmp_path / f"a{ending}"
    path.write_bytes(b"old")

    def half(part, *rest):
        part.write_bytes(b"half")
        raise fault

    def half_displayed(file, *rest):
        half(Path(file.name))

    monkeypatch.setattr(image, "_write_exr", half)
    monkeypatch.setattr(image, "_write_npz", half)
    monkeypatch.setattr(image, "DISPLAYED", dict.fromkeys(image.DISPLAYED, ("", half_displayed)))
    expected = ViewerError if isinstance(fault, OSError) else type(fault)
    with pytest.raises(expected, match="No space left" if expected is ViewerError else None):
        image.save(path, picture())
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("ending", image.FORMATS)
def test_who_reads_the_old_file_keeps_its_bytes(tmp_path, monkeypatch, ending) -> None:
    """The new one takes its name when it is whole; it is not written into the old one."""
    path, seen = tmp_path / f"a{ending}", []
    path.write_bytes(b"old bytes")
    os.chmod(path, 0o640)
    replace = os.replace

    def watched(source, target):
        seen.append((os.stat(source).st_size, path.read_bytes()))
        replace(source, target)

    monkeypatch.setattr(os, "replace", watched)
    with open(path, "rb") as reader:
        image.save(path, picture())
        assert reader.read() == b"old bytes" and os.fstat(reader.fileno()).st_ino != path.stat().st_ino
    assert seen == [(path.stat().st_size, b"old bytes")]
    assert path.stat().st_mode & 0o777 == 0o640 and os.listdir(tmp_path) == [path.name]


@pytest.mark.skipif(sys.platform == "win32", reason="RLIMIT_FSIZE is POSIX")
def test_a_full_disk_is_noticed(tmp_path) -> None:
    """A size limit stands in for the full disk: every length that is too short is refused, the old file stays."""
    cases = []  # of all formats, in one process
    for ending in image.FORMATS:
        path = tmp_path / f"a{ending}"
        for height in (33, 4):  # a small file fits a buffer, which some libraries write only when they close it
            image.save(path, picture(height, height), layers(height, height) if height == 33 else {})
            cases.append((str(path), height, path.stat().st_size))
        path.write_bytes(b"old")
    script = f"""
import resource, signal, sys
sys.path.insert(0, {str(os.path.dirname(__file__))!r})
from test_image import picture, layers
from raystream.film.files import image
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for path, height, size in {cases}:
    for limit in (0, 1, 100, size // 2, max(size - 2000, 0), max(size - 100, 0), size - 1):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        try:
            image.save(path, picture(height, height), layers(height, height) if height == 33 else {{}})
        except image.ViewerError as error:
            assert "cannot be written" in str(error), (path, error)
        else:
            raise SystemExit(f"{{path}}: {{limit}} bytes of {{size}} were taken for the whole file")
"""
    run = subprocess.run([sys.executable, "-B", "-c", script], capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    paths = {path for path, _, _ in cases}
    assert {str(path) for path in tmp_path.iterdir()} == paths
    assert all(path.read_bytes() == b"old" for path in tmp_path.iterdir())


def test_rights_and_links_are_kept(tmp_path) -> None:
    real, link = tmp_path / "real.png", tmp_path / "link.png"
    image.save(real, picture())
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(real.stat().st_mode) == 0o666 & ~mask
    real.chmod(0o640)
    link.symlink_to(real)
    image.save(link, picture(5, 5))
    assert link.is_symlink() and stat.S_IMODE(real.stat().st_mode) == 0o640
    with Image.open(real) as file:
        assert file.size == (5, 5)


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("a", "no ending"),
        ("a.bmp", r"unknown picture format '.bmp' \(known: .png, .webp, .jpg, .jpeg, .exr, .npz\)"),
        (".png", "no ending"),
        ("nowhere/a.png", "there is no folder"),
        ("folder.png", "is a folder"),
        ("x" * 300 + ".png", "File name too long"),
        ("a\0.png", "null"),
    ],
)
def test_paths_that_cannot_be(tmp_path, name: str, word: str) -> None:
    (tmp_path / "folder.png").mkdir()
    for attempt in (lambda p: image.check_path(p), lambda p: image.save(p, picture())):
        with pytest.raises(ViewerError, match=word):
            attempt(f"{tmp_path}/{name}")
    assert os.listdir(tmp_path) == ["folder.png"]


def test_no_permission(tmp_path, monkeypatch) -> None:
    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(image.os, "open", refuse)
    with pytest.raises(ViewerError, match="cannot be written: Permission denied"):
        image.check_path(tmp_path / "a.png")


def test_check_path_leaves_nothing_behind(tmp_path) -> None:
    for ending in image.FORMATS:
        image.check_path(tmp_path / f"a{ending}", () if ending in image.DISPLAYED else ("depth",))
    assert os.listdir(tmp_path) == []
    with pytest.raises(ViewerError, match="a PNG file cannot hold the layers depth, normal"):
        image.check_path(tmp_path / "a.png", ("depth", "normal"))
    with pytest.raises(ViewerError, match="a JPEG file cannot hold the layers depth"):
        image.check_path(tmp_path / "a.jpg", ("depth",))


LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize(
    ("layer", "kind"),
    [
        (np.array([[1 << 24]]), np.float32),
        (np.array([[(1 << 24) + 1]]), np.uint32),
        (np.array([[(1 << 24) + 1, -1]]), np.uint32),
        (np.array([[(1 << 24) + 1]], np.uint32), np.uint32),
        (np.array([[float(1 << 25)]]), np.float32),
        (np.array([[True]]), np.float32),
    ],
)
def test_whole_numbers_in_exr(layer: np.ndarray, kind: type, tmp_path: Path) -> None:
    image.save(tmp_path / "a.exr", pixels(1, layer.shape[1], 1), {"steps": layer})
    values = image.read_exr(tmp_path / "a.exr", ["steps"])[1]["steps"]
    assert values.dtype == kind
    np.testing.assert_array_equal(values.astype(np.int64) & 0xFFFFFFFF, layer.astype(np.int64) & 0xFFFFFFFF)


@pytest.mark.parametrize("ending", ["png", "jpg"])
def test_displayed_files_tell_their_display(ending: str, tmp_path: Path) -> None:
    """Beside their metadata; lines of 8-bit codes; a comment of JPEG ends where its segment does."""
    image.save(tmp_path / f"a.{ending}", pixels(0.25), None, {"a": "x" * 70_000}, exposure=1, tonemap="none")
    with Image.open(tmp_path / f"a.{ending}") as file:
        assert np.abs(np.asarray(file).astype(int) - 188).max() <= 1
        if ending == "jpg":
            assert len(file.info["comment"]) == 65533
        else:
            assert len(file.info["a"]) == 70_000 and (file.info["exposure"], file.info["tonemap"]) == ("1", "none")


@pytest.mark.parametrize(
    ("size", "edge"), [((1, 1), 1), ((32, 9), 1), ((33, 9), 2), ((9, 64), 2), ((65, 9), 3), ((640, 480), 20)]
)
def test_blocks_of_exposure(size: tuple[int, int], edge: int) -> None:
    assert block_edge(size) == edge
    picture = np.random.default_rng(1).random((size[1], size[0], 3)).astype(np.float32)
    found = block_means(picture)
    assert found.shape == (-(-size[1] // edge), -(-size[0] // edge))
    for (row, column), value in np.ndenumerate(found):
        part = picture[row * edge : (row + 1) * edge, column * edge : (column + 1) * edge]
        assert value == pytest.approx((part @ LUMINANCE).mean(), rel=1e-3)


@pytest.mark.parametrize(
    ("luminance", "stops"),
    [
        ([0.25] * 8, 0),
        ([0.5] * 8, math.tanh(1) - 1),
        ([0.125] * 8, math.tanh(-1) + 1),
        ([0.25 * 2**8] * 8, math.tanh(8) - 8),
        ([0.25 / 2**8] * 8, math.tanh(-8) + 8),
        ([0.5] * 8 + [0.0] * 100, math.tanh(1) - 1),  # black blocks do not count
        ([0.0] * 4, 0),
        ([], 0),
    ],
)
def test_automatic_exposures(luminance: list[float], stops: float) -> None:
    assert automatic_exposure(np.array(luminance)) == pytest.approx(stops, abs=1e-12)


def test_exposure_of_bright_and_dark_parts() -> None:
    """Quantiles of 5 and 95 % hold the logarithms; a tenth of the upper one is the least mean."""
    ramp = np.array([0.01, *np.geomspace(0.1, 0.4, 99), 4.0])
    low, high = np.quantile(ramp, 0.05), np.quantile(ramp, 0.95)
    mean = math.exp(np.log(np.clip(ramp, low, high)).mean())
    away = math.log2(mean / 0.25)
    assert automatic_exposure(ramp) == pytest.approx(math.tanh(away) - away, rel=1e-12)
    lamps = np.array([0.001] * 90 + [1.0] * 10)
    away = math.log2(0.1 / 0.25)
    assert automatic_exposure(lamps) == pytest.approx(math.tanh(away) - away, rel=1e-12)


def half_covered() -> tuple[np.ndarray, np.ndarray]:
    """Premultiplied radiance (H, W, 3), and alpha from 0 to 1."""
    alpha = np.linspace(0, 1, 12, dtype=np.float32).reshape(3, 4)
    color = np.random.default_rng(1).random((3, 4, 3)).astype(np.float32)
    return color * alpha[..., None], alpha


@pytest.mark.parametrize("ending", [".png", ".webp"])
def test_colours_of_eight_bits_are_straight(tmp_path: Path, ending: str) -> None:
    linear, alpha = half_covered()
    image.save(tmp_path / f"a{ending}", linear, matte=Matte(alpha))
    with Image.open(tmp_path / f"a{ending}") as file:
        assert file.mode == "RGBA"
        codes = np.asarray(file)
    over = np.array([0.9, 0.2, 0.4])
    share = codes[..., 3:] / 255
    found = decode(codes[..., :3] / 255) * share + (1 - share) * over
    wanted = linear + (1 - alpha[..., None]) * over
    assert np.abs(found - wanted).max() < 2 / 255  # half a code of colour, at most 1 / 100, and of alpha
    assert not codes[0, 0].any()


def test_webp_has_the_pixels_of_png_and_its_facts(tmp_path: Path) -> None:
    linear, _ = half_covered()
    image.save(tmp_path / "a.webp", linear, metadata={"scene": "a & b"})
    with Image.open(tmp_path / "a.webp") as file:
        assert file.mode == "RGB" and np.array_equal(np.asarray(file), srgb8(linear))
        assert b"scene: a &amp; b" in file.info["xmp"]


def test_exr_and_npz_are_premultiplied(tmp_path: Path) -> None:
    linear, alpha = half_covered()
    image.save(tmp_path / "a.exr", linear, matte=Matte(alpha))
    _, channels = image.read_exr(tmp_path / "a.exr")
    assert channels.keys() == {"R", "G", "B", "A"}
    assert np.array_equal(channels["A"], alpha)
    assert np.array_equal(np.stack([channels[name] for name in "RGB"], axis=-1), linear)
    image.save(tmp_path / "a.npz", linear, matte=Matte(alpha))
    with np.load(tmp_path / "a.npz") as file:
        assert np.array_equal(file["alpha"], alpha) and np.array_equal(file["linear"], linear)


def test_what_has_no_alpha_is_refused(tmp_path: Path) -> None:
    linear, alpha = half_covered()
    with pytest.raises(ViewerError, match="no alpha channel"):
        image.save(tmp_path / "a.jpg", linear, matte=Matte(alpha))
    assert not list(tmp_path.iterdir())
    with pytest.raises(ViewerError, match=str(MOST_WEBP)), open(tmp_path / "a.webp", "wb") as file:
        write_webp(file, np.zeros((1, MOST_WEBP + 1, 3), np.uint8), {})


def test_a_colour_behind_is_neither_exposed_nor_tone_mapped(tmp_path: Path) -> None:
    linear, alpha = half_covered()
    white = linear + (1 - alpha[..., None])
    matte = Matte(alpha, (1.0, 1.0, 1.0))
    image.save(tmp_path / "a.png", white, exposure=-1.0, tonemap="agx", matte=matte)
    with Image.open(tmp_path / "a.png") as file:
        codes = np.asarray(file)
    assert codes.shape == (3, 4, 3) and (codes[0, 0] == 255).all()
    assert np.array_equal(codes[-1, -1], srgb8(linear[-1, -1], -1.0, "agx"))
    share = alpha[..., None]
    front = decode(srgb8(linear / np.maximum(share, 1e-9), -1.0, "agx") / 255)
    assert np.abs(decode(codes / 255) - (front * share + 1 - share)).max() < 2 / 255
    image.save(tmp_path / "a.exr", white, matte=matte)
    _, channels = image.read_exr(tmp_path / "a.exr")
    assert channels.keys() == {"R", "G", "B"} and np.array_equal(channels["R"], white[..., 0])


def test_a_picture_is_exposed_by_what_stands_before(tmp_path: Path) -> None:
    linear, alpha = half_covered()
    matte = Matte(alpha, (1.0, 1.0, 1.0))
    covered = alpha > 0.5
    found = matte.metered(linear + (1 - alpha[..., None]))
    assert np.allclose(found[0], linear[covered] / alpha[covered][:, None], atol=1e-6)
    assert np.allclose(Matte(alpha).metered(linear), found, atol=1e-6)
    nothing = Matte(np.zeros_like(alpha))
    assert nothing.metered(linear) is linear

"""Images, samplers and textures of glTF 2.0 (sections 3.8 and 5.25 to 5.30), with KHR_texture_transform,
KHR_texture_basisu and EXT_texture_webp.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.formats.files import decode_data_uri, read_file, resolve_uri
from raystream.formats.gltf import decoders
from raystream.formats.gltf.accessors import Accessors
from raystream.formats.gltf.decoders import BASISU, installed
from raystream.formats.gltf.json import JsonObject, MissingExtra, Omissions
from raystream.formats.image.images import MAX_IMAGE_TEXELS, ImageMemory, decode, header
from raystream.scene.material import Material
from raystream.scene.texture import Image, Texture, uv_transform

# -- the sets of texture coordinates that meshes need ------------------------------------------------------------------
# A file has any number (glTF 2.0, section 3.7.2.1), a mesh of the scene two.

UvSets = tuple[int, ...]

DEFAULT: UvSets = (0, 1)
_TRANSFORM = "KHR_texture_transform"


def material_sets(document: JsonObject, variants: str) -> list[UvSets]:
    """For each material the indices of the sets that its meshes have as ``uvs`` and ``uvs_1``: 0 and 1, unless its
    textures use others, then the first two of these. Materials that variants put on one mesh have the same.

    variants : the extension of primitives that names them. Malformed members are left to their readers.
    """
    materials = document.array("materials")
    sets_of_materials = [set(_texture_sets(material)) for material in materials]
    parent = list(range(len(materials)))

    def representative(index: int) -> int:
        while parent[index] != index:
            index = parent[index]
        return index

    for candidates in _materials_on_one_mesh(document, variants):
        indices = [index for index in candidates if isinstance(index, int) and 0 <= index < len(parent)]
        for index in indices[1:]:
            parent[representative(index)] = representative(indices[0])
    merged: dict[int, set[int]] = {}
    for index, sets in enumerate(sets_of_materials):
        merged.setdefault(representative(index), set()).update(sets)
    return [_used_sets(merged[representative(index)]) for index in range(len(materials))]


def _used_sets(used: set[int]) -> UvSets:
    return DEFAULT if used <= set(DEFAULT) else tuple(sorted(used)[:2])


def _materials_on_one_mesh(document: JsonObject, variants: str) -> Iterator[list[Any]]:
    """Of every primitive with material variants, the indices of its materials."""
    if document.extension(variants) is None:
        return
    for mesh in document.objects("meshes"):
        for primitive in mesh.objects("primitives"):
            extension = primitive.extension(variants)
            if extension is not None:
                yield [_integer(user.data.get("material")) for user in (primitive, *extension.objects("mappings"))]


def _texture_sets(value: Any, key: str = "") -> Iterator[int]:
    """The sets of texture coordinates that the textures in part of a JSON document use, except occlusion textures."""
    if isinstance(value, dict):
        if key.endswith("Texture") and key != "occlusionTexture":
            uv_set = texture_set(value)
            if uv_set is not None:
                yield uv_set
        for inner, child in value.items():
            yield from _texture_sets(child, inner)
    elif isinstance(value, list):
        for child in value:
            yield from _texture_sets(child)


def texture_set(described: dict[str, Any]) -> int | None:
    """The set of texture coordinates of a texture's description; None where it is no number."""
    uv_set = described.get("texCoord")
    extensions = described.get("extensions")
    transform = extensions.get(_TRANSFORM) if isinstance(extensions, dict) else None
    if isinstance(transform, dict) and transform.get("texCoord") is not None:
        uv_set = transform["texCoord"]
    uv_set = 0 if uv_set is None else _integer(uv_set)
    return uv_set if isinstance(uv_set, int) and uv_set >= 0 else None


def _integer(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


# -- images, samplers and textures -------------------------------------------------------------------------------------

_WRAPS = {10497: "repeat", 33648: "mirrored", 33071: "clamp"}
_NEAREST = 9728
_MINIFICATIONS = {
    9728: "nearest",
    9729: "linear",
    9984: "nearest_mipmap_nearest",
    9985: "linear_mipmap_nearest",
    9986: "nearest_mipmap_linear",
    9987: "linear_mipmap_linear",
}
_WEBP, _BASIS = "EXT_texture_webp", "KHR_texture_basisu"


@dataclass(frozen=True)
class TexelEdit:
    """A change of an image's texels (H, W, 4); equal ones have equal names."""

    name: str
    texels: Callable[[NDArray], NDArray] | None


UNEDITED = TexelEdit("", None)


class GltfTextures:
    """The textures of materials; all images are decoded in parallel at the first request.

    textures : in the scene's order. places : their indices by the places that name them, and the names of the changes
    of their texels. moving : the places whose transforms are animated: each has a texture of its own. An unreadable
    image is refused, or if ``lenient`` replaced by a checkerboard, with the reason in ``faults``, once per image.
    """

    def __init__(
        self,
        document: JsonObject,
        accessors: Accessors,
        path: Path,
        lenient: bool = False,
        max_texture: int | None = None,
        moving: Collection[str] = (),
    ) -> None:
        self.lenient = lenient
        self.animated_places = moving
        self.places: dict[tuple[str, str], int] = {}
        self.memory = ImageMemory(max_texture)
        self.document = document
        self.accessors = accessors
        self.folder = path.parent
        self.textures: list[Texture] = []
        self.faults: dict[str, str] = {}  # place -> fault
        self.notes: list[str] = []
        self.without_image: dict[str, None] = {}  # places of textures without one
        self._numbers: dict[tuple, int] = {}
        self._images: dict[int, Image | ViewerError] = {}
        self._changed: dict[tuple[int, str], Image] = {}

    def of_material(self, sets: UvSets, omissions: Omissions) -> MaterialTextures:
        """The textures as a material has them whose meshes have these sets of texture coordinates."""
        return MaterialTextures(self, sets, omissions)

    def number(
        self, owner: JsonObject, key: str, sets: UvSets, content: str = "color", change: TexelEdit = UNEDITED
    ) -> int | None:
        """The scene's index of the texture described by ``owner[key]``; None for one without an image, which counts as
        white. content : see `Texture`. change : of its texels.

        A third set of texture coordinates is replaced by the first, and noted. Raises ViewerError for unknown
        textures, samplers and images.
        """
        described = owner.child(key)
        coordinates = described.integer("texCoord", 0, high=1 << 20)
        extension = described.extension("KHR_texture_transform")
        if extension is not None:
            coordinates = extension.integer("texCoord", coordinates, high=1 << 20)
        transform = transform_of(described)
        textures = self.document.objects("textures")
        index = described.index("index", len(textures), "texture")
        place = owner.path(key)
        source = self._image_index(textures[index])
        if source is None:
            self.without_image[textures[index].where.split(": ")[-1]] = None
            return None
        if coordinates not in sets:
            what = f"TEXCOORD_{coordinates} is a third set of texture coordinates; TEXCOORD_{sets[0]} is used"
            self.notes.append(f"{place.split(': ')[-1]}: {what}")
        uv_set = sets.index(coordinates) if coordinates in sets else 0
        moving_place = place if place in self.animated_places else ""
        texture_key = (index, (transform + 0.0).tobytes(), content, uv_set, moving_place, change.name)
        if texture_key not in self._numbers:
            texture = self._texture(textures[index], index, self._edited_image(source, change))
            texture.transform, texture.content, texture.uv_set = transform, content, uv_set
            self._numbers[texture_key] = len(self.textures)
            self.textures.append(texture)
        self.places[place, change.name] = self._numbers[texture_key]
        return self._numbers[texture_key]

    def uv_sets(self, material: Material) -> frozenset[int]:
        """The sets of a mesh's texture coordinates used by a material's textures."""
        return frozenset(self.textures[index].uv_set for index in material.texture_numbers)

    def tangent_set(self, material: Material) -> int | None:
        """The set of texture coordinates for the tangents of a material's meshes; None if it needs none."""
        for index in (material.normal_texture, material.clearcoat_normal_texture, material.anisotropy_texture):
            if index is not None:
                return self.textures[index].uv_set
        return 0 if material.anisotropy > 0.0 else None

    def warnings(self) -> list[str]:
        """One warning for unreadable images, one for textures without image, one for texture coordinates."""
        warnings = []
        if self.faults:
            place, what = next(iter(self.faults.items()))
            count = f"{len(self.faults)} images, " if len(self.faults) > 1 else ""
            warnings.append(f"{count}{place} not read, a checkerboard instead: {what}")
        if self.without_image:
            count = f"{len(self.without_image)} textures, " if len(self.without_image) > 1 else ""
            warnings.append(f"{count}{next(iter(self.without_image))} has no image of a known format; white instead")
        return [*warnings, *self.notes[:1]]

    def _texture(self, texture: JsonObject, index: int, image: Image) -> Texture:
        sampler = self._sampler(texture)
        wrap = tuple(_WRAPS.get(sampler.integer(key, 10497), "repeat") for key in ("wrapS", "wrapT"))
        nearest = sampler.integer("magFilter", 0) == _NEAREST
        minification = _MINIFICATIONS.get(sampler.integer("minFilter", 0))
        name = texture.text("name", "") or f"texture {index}"
        return Texture(image, (wrap[0], wrap[1]), nearest, name=name, minification=minification)

    def _edited_image(self, index: int, change: TexelEdit) -> Image:
        """An image, with its texels changed. Raises ViewerError if unreadable."""
        if change.texels is None:
            return self._image(index)
        if (index, change.name) not in self._changed:
            image = self._image(index)
            self.memory.add(image.texels.shape[0] * image.texels.shape[1], self.document.where)
            self._changed[index, change.name] = Image(change.texels(image.texels), f"{image.name}, {change.name}")
        return self._changed[index, change.name]

    def _image(self, index: int) -> Image:
        if not self._images:
            self._decode()
        image = self._images[index]
        if isinstance(image, Image):
            return image
        if isinstance(image, MissingExtra):
            raise image
        if not self.lenient:
            hint = "--lenient shows a checkerboard instead"
            raise ViewerError(image.where, image.what, f"{image.hint}; {hint}" if image.hint else hint)
        self.faults.setdefault(image.where.split(": ")[-1], image.what)
        self._images[index] = replacement = Image.checkerboard(f"image {index}")
        return replacement

    def _image_index(self, texture: JsonObject) -> int | None:
        """WebP and Basis before PNG and JPEG, which are fallbacks for other readers; None without any.

        Without Basis's decoder the fallback, if any; else ViewerError with the installation command.
        """
        count = len(self.document.objects("images"))
        for name in (_WEBP, _BASIS):
            extension = texture.extension(name)
            if extension is None or "source" not in extension:
                continue
            if name == _BASIS and "source" in texture and not installed(BASISU):
                continue
            return extension.index("source", count, "image")
        return texture.index("source", count, "image", None)

    def _sampler(self, texture: JsonObject) -> JsonObject:
        samplers = self.document.objects("samplers")
        index = texture.index("sampler", len(samplers), "sampler", None)
        return JsonObject({}, texture.where) if index is None else samplers[index]

    def _decode(self) -> None:
        """Decode the images of all used textures, on all processors; faults are stored by place.

        Memory is charged beforehand, image by image in the file's order.
        """
        images = self.document.objects("images")
        reads: dict[int, Callable[[], Image]] = {}
        for index in sorted(self._used_images()):
            image = images[index]
            image.index("bufferView", len(self.accessors.views), "buffer view", None)
            try:
                data = self._bytes(image)
                packed = decoders.is_basis(data)
                reader, read_header = (decoders.decode_basis, decoders.basis_header) if packed else (decode, header)
                layout = read_header(data, image.where)
                factor = self.memory.plan(layout, len(data), image.where)
                name = image.text("name", "") or f"image {index}"
                reads[index] = partial(self._read, layout.peak(factor), reader, data, image.where, name, factor)
            except ViewerError as error:
                self._images[index] = error
        if reads:
            with ThreadPoolExecutor(min(len(reads), os.cpu_count() or 1)) as pool:
                decoded = pool.map(lambda index: _image_or_error(images[index].where, reads[index]), reads)
                self._images.update(zip(reads, decoded, strict=True))

    def _read(self, peak: int, read: Callable[..., Image], *arguments: object) -> Image:
        with self.memory.decoding(peak):
            return read(*arguments)

    def _used_images(self) -> set[int]:
        """Indices of the images used by materials' textures, including damaged references."""
        textures, sources = self.document.objects("textures"), set()
        for index in _indices(self.document.data.get("materials")):
            if 0 <= index < len(textures):
                with suppress(ViewerError):
                    sources.add(self._image_index(textures[index]))
        return {source for source in sources if source is not None}

    def _bytes(self, image: JsonObject) -> bytes:
        uri = image.text("uri", None)
        where = image.path("uri")
        if uri is None:
            return self.accessors.view_bytes(image.index("bufferView", len(self.accessors.views), "buffer view"))
        if uri[:5].lower() == "data:":
            return decode_data_uri(uri, where)
        return read_file(resolve_uri(self.folder, uri, where), where, max_bytes=16 * MAX_IMAGE_TEXELS)


@dataclass(frozen=True)
class MaterialTextures:
    """The textures as one material has them: see `GltfTextures.of_material`."""

    shared: GltfTextures
    sets: UvSets
    omissions: Omissions

    @property
    def textures(self) -> Sequence[Texture]:
        """The scene's, in order."""
        return self.shared.textures

    def number(self, owner: JsonObject, key: str, content: str = "color", change: TexelEdit = UNEDITED) -> int | None:
        """See `GltfTextures.number`."""
        with self.omissions:
            return self.shared.number(owner, key, self.sets, content, change)
        return None


def transform_of(described: JsonObject) -> NDArray[np.float64]:
    """(2, 3): the transform of the texture coordinates of a texture's description (KHR_texture_transform)."""
    extension = described.extension("KHR_texture_transform")
    if extension is None:
        return uv_transform()
    offset, scale = (extension.numbers(key, 2, (value, value)) for key, value in (("offset", 0.0), ("scale", 1.0)))
    return uv_transform(offset, extension.number("rotation", 0.0), scale)


def _indices(value: object, key: str = "") -> Iterator[int]:
    """The texture numbers in part of a JSON document: ``index`` of members named as textures, except occlusion."""
    if isinstance(value, dict):
        index = value.get("index")
        if isinstance(index, float) and index.is_integer():  # as in `JsonObject.integer`
            index = int(index)
        if key.endswith("Texture") and key != "occlusionTexture" and isinstance(index, int):
            yield index
        for name, item in value.items():
            yield from _indices(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from _indices(item)


def _image_or_error(where: str, read: Callable[[], Image]) -> Image | ViewerError:
    """The image, or the error of reading it: threads return errors, which are raised or noted in the file's order."""
    try:
        return read()
    except ViewerError as error:
        return error
    except MemoryError:
        return ViewerError(where, "not enough memory to read it", "use a smaller image, or close other programs")

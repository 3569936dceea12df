"""Images, samplers and textures of glTF 2.0 (sections 3.8 and 5.25 to 5.30), and KHR_texture_transform."""

from __future__ import annotations

from pathlib import Path

from viewer.base.errors import ViewerError
from viewer.formats.files import decode_data_uri, read_file, resolve_uri
from viewer.formats.gltf.accessors import Accessors
from viewer.formats.gltf.json import Object
from viewer.formats.image.images import LARGEST_IMAGE, MOST_TEXELS, decode
from viewer.scene.texture import Image, Texture, uv_transform

_WRAPS = {10497: "repeat", 33648: "mirrored", 33071: "clamp"}
_NEAREST = 9728


class Textures:
    """The textures that materials use; an image is decoded when the first of them asks for it.

    textures : as the scene holds them. Where one cannot be had, it is white, and ``faults`` says why, once per image.
    """

    def __init__(self, document: Object, accessors: Accessors, path: Path) -> None:
        self.document = document
        self.accessors = accessors
        self.folder = path.parent
        self.textures: list[Texture] = []
        self.faults: dict[str, str] = {}  # place -> what is wrong there
        self._numbers: dict[tuple, int] = {}
        self._images: dict[int, Image] = {}
        self._texels = 0

    def number(self, owner: Object, key: str) -> tuple[int, int]:
        """The scene's number of the texture that ``owner[key]`` describes, and its set of texture coordinates."""
        described = owner.child(key)
        coordinates = described.integer("texCoord", 0, high=1 << 20)
        offset, rotation, scale = (0.0, 0.0), 0.0, (1.0, 1.0)
        extension = described.extension("KHR_texture_transform")
        if extension is not None:
            offset = extension.numbers("offset", 2, offset)
            rotation = extension.number("rotation", rotation)
            scale = extension.numbers("scale", 2, scale)
            coordinates = extension.integer("texCoord", coordinates, high=1 << 20)
        index = described.integer("index", -1, low=-(1 << 53))
        made = (index, offset, rotation, scale)
        if made not in self._numbers:
            texture = self._texture(described, index)
            texture.transform = uv_transform(offset, rotation, scale)
            self._numbers[made] = len(self.textures)
            self.textures.append(texture)
        return self._numbers[made], coordinates

    def warnings(self) -> list[str]:
        """A line about the images that could not be had."""
        if not self.faults:
            return []
        place, what = next(iter(self.faults.items()))
        count = f"{len(self.faults)} images, " if len(self.faults) > 1 else ""
        return [f"{count}{place} not read, white instead: {what}"]

    def _texture(self, described: Object, index: int) -> Texture:
        """The texture; a white one where it, its sampler or its image is damaged."""
        try:
            found = self.document.objects("textures")
            if not 0 <= index < len(found):
                raise described.fail("index", f"names texture {index} of {len(found)}")
            texture = found[index]
            sampler = self._sampler(texture)
            wrap = tuple(_WRAPS.get(sampler.integer(key, 10497), "repeat") for key in ("wrapS", "wrapT"))
            nearest = sampler.integer("magFilter", 0) == _NEAREST
            images = self.document.objects("images")
            name = f"texture {index}"
            return Texture(
                self._image(texture.index("source", len(images), "image")), (wrap[0], wrap[1]), nearest, name=name
            )
        except ViewerError as error:
            self._fault(error)
            return Texture(Image.white(), name=f"texture {index}")

    def _sampler(self, texture: Object) -> Object:
        samplers = self.document.objects("samplers")
        number = texture.index("sampler", len(samplers), "sampler", None)
        return Object({}, texture.where) if number is None else samplers[number]

    def _image(self, number: int) -> Image:
        if number not in self._images:
            image = self.document.objects("images")[number]
            name = image.text("name", "") or f"image {number}"
            try:
                found = decode(self._bytes(image), image.where, name, min(LARGEST_IMAGE, MOST_TEXELS - self._texels))
            except ViewerError as error:
                self._fault(error)
                found = Image.white(name)
            self._texels += found.texels.shape[0] * found.texels.shape[1]
            self._images[number] = found
        return self._images[number]

    def _fault(self, error: ViewerError) -> None:
        self.faults.setdefault(error.where.split(": ")[-1], error.what)

    def _bytes(self, image: Object) -> bytes:
        uri = image.text("uri", None)
        where = image.path("uri")
        if uri is None:
            return self.accessors.view_bytes(image.index("bufferView", len(self.accessors.views), "buffer view"))
        if uri[:5].lower() == "data:":
            return decode_data_uri(uri, where)
        return read_file(resolve_uri(self.folder, uri, where), where, most=16 * LARGEST_IMAGE)

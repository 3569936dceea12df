"""glTF documents of textured squares, up to one with every field of every material extension."""

from documents import SQUARE, TWO, Document
from picture_bytes import encoded


def with_materials(*described: dict) -> Document:
    doc = Document()
    doc.mesh(
        {
            "POSITION": doc.accessor(SQUARE),
            "TEXCOORD_0": doc.accessor(SQUARE[:, :2]),
            "TEXCOORD_1": doc.accessor(SQUARE[:, :2] * 3),
        },
        doc.accessor(TWO),
        material=0,
    )
    doc.json["materials"] = list(described)
    return doc


def textured(**info) -> Document:
    doc = with_materials({"pbrMetallicRoughness": {"baseColorTexture": {"index": 0, **info}, "metallicFactor": 0}})
    doc.json["images"] = [{"bufferView": doc.view(encoded()), "mimeType": "image/png", "name": "dots"}]
    doc.json["textures"] = [{"source": 0}]
    return doc


def full() -> Document:
    """A material with every member of every extension, the n-th texture of which is moved by n."""
    count = 0

    def texture(**more) -> dict:
        nonlocal count
        count += 1
        moved = {"KHR_texture_transform": {"offset": [count, 0], "rotation": 0, "scale": [1, 1], "texCoord": 1}}
        return {"index": 0, "texCoord": 0, "extensions": moved, **more}

    pbr = {
        "baseColorFactor": [0.1, 0.2, 0.3, 0.4],
        "baseColorTexture": texture(),
        "metallicFactor": 0.5,
        "roughnessFactor": 0.6,
        "metallicRoughnessTexture": texture(),
    }
    extensions = {
        "KHR_materials_anisotropy": {
            "anisotropyStrength": 0.11,
            "anisotropyRotation": 7.5,
            "anisotropyTexture": texture(),
        },
        "KHR_materials_clearcoat": {
            "clearcoatFactor": 0.12,
            "clearcoatTexture": texture(),
            "clearcoatRoughnessFactor": 0.13,
            "clearcoatRoughnessTexture": texture(),
            "clearcoatNormalTexture": texture(scale=0.14),
        },
        "KHR_materials_diffuse_transmission": {
            "diffuseTransmissionFactor": 0.15,
            "diffuseTransmissionTexture": texture(),
            "diffuseTransmissionColorFactor": [0.16, 0.17, 0.18],
            "diffuseTransmissionColorTexture": texture(),
        },
        "KHR_materials_dispersion": {"dispersion": 0.36},
        "KHR_materials_emissive_strength": {"emissiveStrength": 2},
        "KHR_materials_ior": {"ior": 1.4},
        "KHR_materials_iridescence": {
            "iridescenceFactor": 0.19,
            "iridescenceTexture": texture(),
            "iridescenceIor": 1.21,
            "iridescenceThicknessMinimum": 220,
            "iridescenceThicknessMaximum": 230,
            "iridescenceThicknessTexture": texture(),
        },
        "KHR_materials_sheen": {
            "sheenColorFactor": [0.24, 0.25, 0.26],
            "sheenColorTexture": texture(),
            "sheenRoughnessFactor": 0.27,
            "sheenRoughnessTexture": texture(),
        },
        "KHR_materials_specular": {
            "specularFactor": 0.28,
            "specularTexture": texture(),
            "specularColorFactor": [1.29, 0.3, 0.31],
            "specularColorTexture": texture(),
        },
        "KHR_materials_transmission": {"transmissionFactor": 0.32, "transmissionTexture": texture()},
        "KHR_materials_volume": {
            "thicknessFactor": 33,
            "thicknessTexture": texture(),
            "attenuationDistance": 34,
            "attenuationColor": [0.35, 0.36, 0.37],
        },
    }
    doc = with_materials(
        {
            "name": "everything",
            "pbrMetallicRoughness": pbr,
            "normalTexture": texture(scale=-0.5),
            "emissiveFactor": [0.5, 0.25, 1],
            "emissiveTexture": texture(),
            "alphaMode": "MASK",
            "alphaCutoff": 0.7,
            "doubleSided": True,
            "extensions": extensions,
            "extras": {"priority": 3},
        }
    )
    doc.json["images"] = [{"bufferView": doc.view(encoded()), "name": "dots"}]
    doc.json["textures"] = [{"source": 0}]
    doc.json["extensionsUsed"] = sorted(extensions)
    return doc

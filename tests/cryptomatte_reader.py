"""A reader of Cryptomattes in EXR files, by the specification alone (version 1.2): nothing of the viewer is used."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import OpenEXR
from numpy.typing import NDArray


class Cryptomattes:
    """The Cryptomattes of a file, by the names of their layers; each a manifest, name -> id as a float."""

    def __init__(self, path: Path) -> None:
        with OpenEXR.File(str(path), separate_channels=True) as file:
            self.channels = {name: channel.pixels.copy() for name, channel in file.channels().items()}
            header = dict(file.header())
        self.manifests: dict[str, dict[str, float]] = {}
        keys = {name.split("/")[1] for name in header if name.startswith("cryptomatte/")}
        for key in keys:
            of = {part: header[f"cryptomatte/{key}/{part}"] for part in ("name", "hash", "conversion", "manifest")}
            assert (of["hash"], of["conversion"]) == ("MurmurHash3_32", "uint32_to_float32")
            assert len(key) == 7
            manifest = json.loads(of["manifest"])
            self.manifests[of["name"]] = {
                name: struct.unpack(">f", bytes.fromhex(digits))[0] for name, digits in manifest.items()
            }

    def pairs(self, layer: str) -> NDArray[np.float32]:
        """(H, W, ranks, 2) ids and coverages, by the ranked layers ``layer00``, ``layer01`` ..."""
        found = []
        while f"{layer}{len(found):02}.R" in self.channels:
            names = [f"{layer}{len(found):02}.{channel}" for channel in "RGBA"]
            assert all(self.channels[name].dtype == np.float32 for name in names)
            found.append(np.stack([self.channels[name] for name in names], axis=-1))
        whole = np.concatenate(found, axis=-1)
        return whole.reshape(*whole.shape[:2], -1, 2)

    def matte(self, layer: str, name: str) -> NDArray[np.float32]:
        """(H, W) coverage of a name."""
        pairs = self.pairs(layer)
        wanted = np.float32(self.manifests[layer][name]).view(np.uint32)
        hit = np.ascontiguousarray(pairs[..., 0]).view(np.uint32) == wanted
        return np.where(hit, pairs[..., 1], 0).sum(axis=-1)

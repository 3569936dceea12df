"""Streams that passes leave for each other, by name."""

from __future__ import annotations

from viewer.stream.declare.record import Record
from viewer.stream.gl.device import Device
from viewer.stream.gl.stream import Stream


class NamedStreams:
    """Streams of one device; the context must be current in every call."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._held: dict[str, Stream] = {}

    def get(self, name: str, record: Record, size: tuple[int, int]) -> Stream:
        """The stream of that name, replaced for another size, (width, height)."""
        held = self._held.get(name)
        if held is None or held.size != size:
            if held is not None:
                held.release()
            held = self._held[name] = Stream(self.device, record, size)
        return held

    def __getitem__(self, name: str) -> Stream:
        return self._held[name]

    def release(self) -> None:
        """Free them."""
        for stream in self._held.values():
            stream.release()
        self._held.clear()

"""Programs that the driver compiles, in threads of its own where it has them (KHR_parallel_shader_compile).

Such a program is begun, asked now and then whether it is complete, and only then asked how that went: any other
question waits. Without the extension the first question waits, or the compilation itself.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from weakref import WeakSet

import moderngl

from raystream.base import cache_folder
from raystream.base.errors import ShaderError
from raystream.base.interrupts import interrupts_deferred
from raystream.stream.compile.source import Source
from raystream.stream.gl.contexts import PrelinkedContext

# -- linked programs of a driver, kept in the user's cache folder for later processes ----------------------------------

MAX_DISK_BYTES = 256 << 20  # of all drivers' programs; beyond, those not used for longest go first
SWEEP_INTERVAL = 16 << 20  # bytes that a process writes before it checks that limit again
_FORMAT, _SUFFIX = 1, ".program"
_HEADER = struct.Struct("<I")  # the driver's number of the binary's format


class Binaries:
    """The programs of one driver, by their sources.

    driver : identifies its build, as it may refuse another build's binaries, or worse, take them. max_bytes : on disk,
    of all drivers.
    """

    def __init__(self, driver: str, max_bytes: int = MAX_DISK_BYTES) -> None:
        self.driver, self.max_bytes = driver, max_bytes
        self._bytes_since_sweep = SWEEP_INTERVAL  # the first that is written sweeps

    def name(self, *parts: str) -> str:
        """The file name of a program, a hash of ``parts``: its stages, their sources, its outputs."""
        content = "\0".join((str(_FORMAT), self.driver, *parts))
        return hashlib.sha256(content.encode()).hexdigest()[:40] + _SUFFIX

    def find(self, name: str) -> tuple[int, bytes] | None:
        """The binary's format and content; None if there is none, or it is damaged."""
        for path, content in cache_folder.find(self._folders(), name):
            if len(content) > _HEADER.size:
                with suppress(OSError):
                    os.utime(path)  # used last
                return _HEADER.unpack_from(content)[0], content[_HEADER.size :]
        return None

    def store(self, name: str, form: int, binary: bytes) -> None:
        """Write or replace a binary, if the folder is writable. form : the driver's number of its format."""
        path = cache_folder.keep(self._folders(), name, _HEADER.pack(form) + binary)
        self._bytes_since_sweep += len(binary)
        if path is not None and self._bytes_since_sweep >= SWEEP_INTERVAL:
            self._bytes_since_sweep = 0
            self._sweep(path.parent)

    def _sweep(self, folder: Path) -> None:
        """Remove the files used least recently, those of killed writers too, until the rest is within the bound."""
        entries = []
        with suppress(OSError):
            for entry in os.scandir(folder):
                if entry.name.endswith(_SUFFIX):
                    with suppress(OSError):  # another process sweeps
                        status = entry.stat()
                        entries.append((status.st_mtime_ns, status.st_size, entry.path))
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= self.max_bytes:
                return
            with suppress(OSError):
                os.unlink(path)
                total -= size

    @staticmethod
    def _folders() -> list[Path]:
        return cache_folder.folders("programs")


# -- programs that the driver compiles, in threads of its own where it has them ----------------------------------------

_KINDS = {"vertex_shader": 0x8B31, "fragment_shader": 0x8B30, "geometry_shader": 0x8DD9}
_COMPILE_STATUS, _LINK_STATUS, _LOG_LENGTH, _COMPLETION = 0x8B81, 0x8B82, 0x8B84, 0x91B1
_BINARY_LENGTH, _BINARY_FORMATS, _RETRIEVABLE, _INTERLEAVED = 0x8741, 0x87FE, 0x8257, 0x8C8C
_STUB = "void main() {}"  # in place of a linked program's sources, which moderngl does not compile
_PARALLEL = {"GL_KHR_parallel_shader_compile": "KHR", "GL_ARB_parallel_shader_compile": "ARB"}
_U, _I = ctypes.c_uint, ctypes.c_int
_OUT, _SIZE, _TEXTS = ctypes.POINTER(_I), ctypes.POINTER(_U), ctypes.POINTER(ctypes.c_char_p)
_FUNCTIONS: dict[str, tuple[Any, ...]] = {  # result, arguments
    "CreateProgram": (_U,),
    "CreateShader": (_U, _U),
    "ShaderSource": (None, _U, _I, _TEXTS, _OUT),
    "CompileShader": (None, _U),
    "AttachShader": (None, _U, _U),
    "TransformFeedbackVaryings": (None, _U, _I, _TEXTS, _U),
    "LinkProgram": (None, _U),
    "GetShaderiv": (None, _U, _U, _OUT),
    "GetProgramiv": (None, _U, _U, _OUT),
    "GetShaderInfoLog": (None, _U, _I, _OUT, ctypes.c_char_p),
    "GetProgramInfoLog": (None, _U, _I, _OUT, ctypes.c_char_p),
    "DeleteShader": (None, _U),
    "DeleteProgram": (None, _U),
    "GetIntegerv": (None, _U, _OUT),
    "GetError": (_U,),
}
_BINARY_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "ProgramParameteri": (None, _U, _U, _I),
    "GetProgramBinary": (None, _U, _I, _OUT, _SIZE, ctypes.c_void_p),
    "ProgramBinary": (None, _U, _U, ctypes.c_char_p, _I),
}
Load = Callable[..., "Callable[..., Any] | None"]


class Compiler:
    """A driver's means for compiling programs; the context must be current in all calls.

    load : the driver's functions, see `Device.load`. driver : tells its builds apart. binaries : whether linked
    programs are kept on disk; None: where that is of use. Mesa (22.3) has binaries only where its own cache on disk is
    in use, which serves as well: the 18 programs of the window's first picture of the Cornell box take 20 ms from
    there and 18 ms from binaries (270 ms from neither), on llvmpipe; the code for Intel's chips is in that cache
    alone.

    prelinked : of the context; None: moderngl compiles, and waits. compiled : programs so far. loaded : those of them
    that binaries gave. pending : those that the driver compiles, as far as is known.
    """

    def __init__(
        self,
        context: moderngl.Context,
        prelinked: PrelinkedContext | None,
        load: Load,
        extensions: frozenset[str],
        driver: str,
        binaries: bool | None = None,
    ) -> None:
        self.context, self.prelinked = context, prelinked
        self.compiled = self.loaded = 0
        self.gl = {name: load(f"gl{name}", *types) for name, types in _FUNCTIONS.items()}
        if not all(self.gl.values()):
            self.prelinked = None
        suffix = next((suffix for name, suffix in _PARALLEL.items() if name in extensions), "")
        self.polls = bool(suffix)
        threads = load(f"glMaxShaderCompilerThreads{suffix}", None, _U) if suffix else None
        if threads is not None:
            threads(0xFFFFFFFF)  # as many as the driver likes; some start with none
        self.binaries: Binaries | None = None
        uses_binaries = "Mesa" not in driver if binaries is None else binaries
        if uses_binaries and (context.version_code >= 410 or "GL_ARB_get_program_binary" in extensions):
            binary_functions = {name: load(f"gl{name}", *types) for name, types in _BINARY_FUNCTIONS.items()}
            if self.prelinked is not None and all(binary_functions.values()) and self._integer(_BINARY_FORMATS) > 0:
                self.gl |= binary_functions
                self.binaries = Binaries(driver)
        self.pending: WeakSet[Compilation] = WeakSet()

    @property
    def busy(self) -> bool:
        """Whether the driver compiles something in its threads, as far as is known; nothing is asked."""
        return bool(self.pending)

    def _integer(self, name: int) -> int:
        value = _I(0)
        self._call("GetIntegerv", name, ctypes.byref(value))
        return value.value

    def _call(self, name: str, *arguments: Any) -> Any:
        function = self.gl[name]
        assert function is not None
        return function(*arguments)

    # -- for compilations ------------------------------------------------------------------------------------------

    def load_binary(self, name: str) -> int:
        """The OpenGL name of a program linked from its stored binary; 0 without one that the driver takes."""
        stored = self.binaries.find(name) if self.binaries is not None else None
        if stored is None:
            return 0
        form, binary = stored
        program = int(self._call("CreateProgram"))
        self._call("ProgramBinary", program, form, binary, len(binary))
        if self.status(program):
            self.loaded += 1
            return program
        self._call("DeleteProgram", program)
        while self._call("GetError"):  # a format that the driver does not know any more
            pass
        return 0

    def begin(self, stages: dict[str, str], varyings: tuple[str, ...]) -> tuple[int, dict[str, int]]:
        """Begin to compile and link a program; returns the OpenGL names of it, and of its shaders by stage."""
        program, shaders = int(self._call("CreateProgram")), {}
        for stage, text in stages.items():
            shaders[stage] = shader = int(self._call("CreateShader", _KINDS[stage]))
            self._call("ShaderSource", shader, 1, _texts((text,)), None)
            self._call("CompileShader", shader)
            self._call("AttachShader", program, shader)
        if varyings:
            self._call("TransformFeedbackVaryings", program, len(varyings), _texts(varyings), _INTERLEAVED)
        if self.binaries is not None:
            self._call("ProgramParameteri", program, _RETRIEVABLE, 1)
        self._call("LinkProgram", program)
        return program, shaders

    def complete(self, program: int) -> bool:
        """Whether compiling and linking are over, so that no question waits; without the extension, assumed."""
        return not self.polls or bool(self._parameter("GetProgramiv", program, _COMPLETION))

    def status(self, program: int) -> bool:
        """Whether a program is linked; waits until that is known."""
        return bool(self._parameter("GetProgramiv", program, _LINK_STATUS))

    def failure(self, program: int, shaders: dict[str, int]) -> tuple[str, str]:
        """The stage that did not compile, "" if the program does not link, and the driver's log."""
        for stage, shader in shaders.items():
            if not self._parameter("GetShaderiv", shader, _COMPILE_STATUS):
                return stage, self._log("GetShaderiv", "GetShaderInfoLog", shader)
        return "", self._log("GetProgramiv", "GetProgramInfoLog", program)

    def store_binary(self, name: str, program: int) -> None:
        """Store a linked program's binary on disk, where the driver gives it."""
        if self.binaries is None:
            return
        length = self._parameter("GetProgramiv", program, _BINARY_LENGTH)
        if length <= 0:
            return
        data, written, form = ctypes.create_string_buffer(length), _I(0), _U(0)
        self._call("GetProgramBinary", program, length, ctypes.byref(written), ctypes.byref(form), data)
        if 0 < written.value <= length:
            self.binaries.store(name, form.value, data.raw[: written.value])

    def delete(self, program: int, shaders: dict[str, int]) -> None:
        """Free a program, unless 0, and shaders; attached ones live as long as the program."""
        for shader in shaders.values():
            self._call("DeleteShader", shader)
        if program:
            self._call("DeleteProgram", program)

    def _parameter(self, function: str, object_id: int, name: int) -> int:
        value = _I(0)
        self._call(function, object_id, name, ctypes.byref(value))
        return value.value

    def _log(self, length_function: str, log_function: str, object_id: int) -> str:
        size = max(self._parameter(length_function, object_id, _LOG_LENGTH), 1)
        text = ctypes.create_string_buffer(size)
        self._call(log_function, object_id, size, None, text)
        return text.value.decode(errors="replace")


def _texts(texts: tuple[str, ...]) -> Any:
    return (ctypes.c_char_p * len(texts))(*(text.encode() for text in texts))


class Compilation:
    """A program that is being compiled: a vertex program linked with one of another stage.

    varyings : outputs for transform feedback. program : moderngl's, once finished.
    """

    def __init__(
        self, compiler: Compiler, vertex: Source, stage: str, other: Source, varyings: tuple[str, ...] = ()
    ) -> None:
        self.compiler, self.stage, self.varyings = compiler, stage, varyings
        self.sources = {"vertex_shader": vertex, stage: other}
        self.program: moderngl.Program | None = None
        self._program, self._shaders, self._name, self._from_binary = 0, dict[str, int](), "", False

    def begin(self) -> None:
        """Begin, unless begun; the driver may compile meanwhile."""
        compiler = self.compiler
        if self.program is not None or self._program or compiler.prelinked is None:
            return
        texts = {stage: source.text for stage, source in self.sources.items()}
        if compiler.binaries is not None:
            self._name = compiler.binaries.name(*(part for pair in texts.items() for part in pair), *self.varyings)
            self._program = compiler.load_binary(self._name)
            self._from_binary = self._program != 0
        if not self._program:
            self._program, self._shaders = compiler.begin(texts, self.varyings)
            compiler.pending.add(self)

    def poll(self) -> bool:
        """Ask whether it is complete, so that `finish` will not wait."""
        compiler = self.compiler
        if self in compiler.pending and compiler.complete(self._program):
            compiler.pending.discard(self)
        is_pending = compiler.prelinked is not None and (not self._program or self in compiler.pending)
        return self.program is not None or not is_pending

    def finish(self) -> moderngl.Program:
        """The program, begun and waited for where needed. Raises ShaderError with the driver's log mapped to the source
        files."""
        if self.program is None:
            self.begin()
            if self._program:
                self._check()
            with interrupts_deferred():  # moderngl calls back into Python, and crashes if that raises
                self.program = self._wrapped() if self._program else self._compiled_by_moderngl()
            self.compiler.compiled += 1
        return self.program

    def _check(self) -> None:
        """Raises ShaderError where the program is not linked; else keeps its binary."""
        compiler = self.compiler
        compiler.pending.discard(self)
        if self._from_binary:
            return
        if not compiler.status(self._program):
            stage, log = compiler.failure(self._program, self._shaders)
            self.release()
            raise self.sources[stage or self.stage].error("GLSL", log) from None
        compiler.store_binary(self._name, self._program)
        compiler.delete(0, self._shaders)
        self._shaders = {}

    def _wrapped(self) -> moderngl.Program:
        """The program that the driver has linked, as an object of moderngl's."""
        compiler = self.compiler
        assert compiler.prelinked is not None
        with compiler.prelinked.adopting(self._program):
            stubs: dict[str, Any] = dict.fromkeys(self.sources, _STUB)
            return compiler.context.program(**stubs)

    def _compiled_by_moderngl(self) -> moderngl.Program:
        texts: dict[str, Any] = {stage: source.text for stage, source in self.sources.items()}
        try:
            return self.compiler.context.program(**texts, varyings=self.varyings)
        except moderngl.Error as error:
            log = str(error)
            raise self.sources["vertex_shader" if "vertex_shader" in log else self.stage].error("GLSL", log) from None

    def release(self) -> None:
        """Free a program that is not finished."""
        self.compiler.pending.discard(self)
        if self.program is None and self._program:
            self.compiler.delete(self._program, self._shaders)
            self._program, self._shaders = 0, {}


class Batch(list[Compilation]):
    """Programs that are compiled together."""

    def steps(self) -> Iterator[float]:
        """Begin one program at each step, then poll all at each step until they are complete, and finish them. Yields
        the fraction that is complete. Raises ShaderError."""
        for compilation in self:
            compilation.begin()
            compilation.poll()
            yield 0.0
        while (complete := sum(compilation.poll() for compilation in self)) < len(self):
            yield complete / len(self)
        self.finish()

    def finish(self) -> None:
        """Begin all, then wait for each. Raises ShaderError."""
        try:
            for compilation in self:
                compilation.begin()
            for compilation in self:
                compilation.finish()
        except ShaderError:
            self.release()
            raise
        self.clear()

    def release(self) -> None:
        """Free those that are not finished."""
        for compilation in self:
            compilation.release()
        self.clear()

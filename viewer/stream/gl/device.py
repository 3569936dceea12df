"""The OpenGL context and its driver's capabilities, queried here alone; and the opening of devices: headless contexts,
and the process's shared ones.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

import glcontext
import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import DeviceError
from raystream.stream.compile.link import MAX_ATTACHMENTS
from raystream.stream.compile.source import Source
from raystream.stream.declare.limits import LIMITS, Limits, rounded
from raystream.stream.gl import contexts
from raystream.stream.gl.compiler import Batch, Compilation, Compiler
from raystream.stream.gl.contexts import KIND, PrelinkedContext, disable_cache_on_full_disk
from raystream.stream.lock import FairLock

# -- workarounds for drivers -------------------------------------------------------------------------------------------
# A property measured by drawing, and sampler state on which software drivers specialise programs.


def probe_sources() -> tuple[Source, Source]:
    """Vertex and fragment program of `array_stores`."""
    return Source.of_file("stream/probe_vertex.glsl"), Source.of_file("stream/probe_array_store.glsl")


def array_stores(context: moderngl.Context) -> bool:
    """Whether each fragment of a program stores into its local array at its own index, as a stack needs. The context
    must be current.

    Mesa's softpipe (22.3) stores those of four pixels at the first one's index.
    """
    vertex, fragment = probe_sources()
    program = context.program(vertex_shader=vertex.text, fragment_shader=fragment.text)
    texture = context.texture((4, 1), 4, dtype="f4")
    target = context.framebuffer([texture])
    target.use()
    context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
    triangle = context.vertex_array(program, [])
    triangle.render(moderngl.TRIANGLES, vertices=3)
    marked = texture.read()
    for resource in (triangle, program, texture):
        resource.release()
    return bool(marked == np.eye(4, dtype=np.float32).tobytes())


def set_samplers(context: moderngl.Context, count: int) -> None:
    """Give all ``count`` samplers of fragment programs the state of float textures. The context must be current.

    Mesa leaves a buffer texture's sampler in the state of the last 2-D texture there, if any, and llvmpipe compiles a
    program for each combination. A compiled program thus took another second at its next pass, once another one had set
    more samplers. The draw that sets them here is conditional on a query without samples, so that it is never compiled.
    """
    names = [f"texels_{k}" for k in range(count)]
    uniforms = "".join(f"uniform sampler2D {name};\n" for name in names)
    total = " + ".join(f"texelFetch({name}, ivec2(0), 0)" for name in names)
    program = context.program(
        vertex_shader="#version 330 core\nvoid main() { gl_Position = vec4(0.0, 0.0, 0.0, 1.0); }",
        fragment_shader=f"#version 330 core\n{uniforms}out vec4 sum;\nvoid main() {{ sum = {total}; }}",
    )
    texture, target = (context.texture((1, 1), 4, dtype="f4") for _ in range(2))
    texture.filter, texture.repeat_x, texture.repeat_y = (moderngl.NEAREST, moderngl.NEAREST), False, False
    for unit, name in enumerate(names):
        program[name] = unit
        texture.use(unit)
    context.framebuffer([target]).use()
    query = context.query(samples=True)
    with query:
        pass
    condition = query.crender if not query.samples else None  # reading blocks: it would draw without a count
    if condition is not None:
        with condition:
            context.vertex_array(program, []).render(moderngl.POINTS, vertices=1)


# -- the context and its driver's capabilities -------------------------------------------------------------------------

_ENDED = "VTK's windows do, PyVista's Plotter too; the device's contents are lost: make another Renderer"
_MAX_BUFFER, _SHADING_LANGUAGE_VERSION = 0x8C2B, 0x8B8C
# Texels: drivers with smaller limits get 2-D textures. Mesa's softpipe (22.3) fetches wrong texels beyond the 32,768th
# of the 65,536 that OpenGL 3.3 guarantees, and scenes outgrow those anyway.
MIN_BUFFER_TEXELS = 1 << 24
EXACT, WITHOUT_PRECISE = "lib/exact.glsl", "WITHOUT_PRECISE"
MAX_PINNED_TEXELS = (1 << 27) - 1  # texels of four floats: moderngl counts the bytes of `PinnedBuffer` in 32 bits


P = ParamSpec("P")
Result = TypeVar("Result")


class ThreadState(threading.local):
    """Current context of a thread: a context is current in one thread at a time."""

    device: Device | None = None


class Process:
    """Whether OpenGL was opened in this process, and whether before a fork. Drivers do not survive one: their threads
    are gone, and their locks keep their state."""

    opened = forked = False

    @classmethod
    def check(cls) -> None:
        """Raises DeviceError in a process forked from one that had opened OpenGL."""
        if cls.forked:
            raise DeviceError(
                "OpenGL",
                "this process was forked from one that had opened it, which drivers do not survive",
                "start processes by spawn: multiprocessing.get_context('spawn'); or fork before the first Renderer",
            )

    @classmethod
    def after_fork(cls) -> None:
        """Called in the child process: marks it as unusable if OpenGL was open."""
        cls.forked = cls.opened
        if cls.forked and sys.platform.startswith("linux"):
            library = ctypes.CDLL(None)
            if hasattr(library, "on_exit"):  # of glibc; its handlers get the exit status
                # Mesa's own exit handler, registered before, would wait for threads lost in the fork.
                library.on_exit(library._exit, None)


this_thread = ThreadState()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=Process.after_fork)


@dataclass
class Device:
    """An OpenGL context with its limits.

    Without ``allow_barrier`` machines double-buffer and copy; without ``allow_buffers`` memories are 2-D and 3-D
    textures; as on drivers without these features. max_buffer : texels of a buffer texture, 0 if unused. limits :
    imposed limits of the papers' day, which exclude both. distrusted : self-tests by name that count as failed, as on a
    driver that fails them, see `raystream.stream.selftest.fallbacks`. binaries : see `Compiler`. remark : of its
    opening.

    headless : the context is our own, and `current` makes it current in any thread, one at a time. Else it is a
    window's, always current in the thread that creates this.

    Raises DeviceError for OpenGL below 3.3 or without rendering to float textures.
    """

    context: moderngl.Context
    allow_barrier: bool = True
    allow_buffers: bool = True
    headless: bool = False
    limits: Limits | None = None
    distrusted: frozenset[str] = frozenset()
    binaries: bool | None = None
    remark: str = ""
    software_form: bool = field(default=True, init=False)  # of generated programs (`Form.software`): as the driver is
    precise: bool = field(default=True, init=False)  # its compiler keeps to `precise` (shaders/lib/exact.glsl)
    # How often the host has waited: for texels, for answers of queries, for draws to end.
    waits: int = field(default=0, init=False)
    files: set[str] = field(default_factory=set, init=False)  # of shaders/, used in its programs
    # Self-tests run so far, by name: how the driver fails them, empty where it passes
    # (`raystream.stream.selftest.fallbacks`).
    selftests: dict[str, str] = field(default_factory=dict, init=False)
    # Unused queries (`Query`) by what they ask: the names of each.
    queries: dict[tuple[int, ...], deque[tuple[int, ...]]] = field(
        default_factory=lambda: defaultdict(deque), init=False, repr=False
    )
    polls: bool = field(default=False, init=False)  # the host comes back for answers instead of waiting, see `polling`
    failed_polls: int = field(default=0, init=False)  # how often an answer was not there yet
    timing: bool = field(default=False, init=False)  # a timer query is active: OpenGL allows one at a time
    slowness: float = field(default=1.0, init=False)  # factor of simulated draw times, for tests of slow devices
    _functions: dict[tuple[Any, ...], Callable[..., Any]] = field(default_factory=dict, init=False, repr=False)
    _array_stores: bool | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        Process.check()
        Process.opened = True
        if self.limits is not None:
            self.allow_barrier = self.allow_buffers = False
        self._home = threading.get_ident()
        # Of the lock's holder: how many blocks of `kept_current` and of `current` it is in, and how it leaves the
        # context.
        self._kept_depth = self._current_depth = 0
        self._leave: Callable[[], None] | None = None
        self._handle = contexts.egl_context() if self.headless else None  # of the context, current during construction
        self.lock = FairLock(self.check)
        # Read while the context is current: moderngl asks the driver at every access.
        self.info: dict[str, Any] = dict(self.context.info)
        self.extensions = frozenset(self.context.extensions)
        self.context.gc_mode = "context_gc"  # dropped objects are freed at the next `current`
        if self.context.version_code < 330:
            raise DeviceError(
                self.name, f"OpenGL {self.context.version_code / 100:.1f}; 3.3 is needed", "update the graphics driver"
            )
        _ = self.context.error  # of `info`, which queries limits that some drivers lack
        granted = self._integer(_MAX_BUFFER)
        granted = min(granted, MAX_PINNED_TEXELS) if self.software else granted
        self.max_buffer = granted if self.allow_buffers and granted >= MIN_BUFFER_TEXELS else 0
        try:
            probe = self.context.texture((1, 1), 4, dtype="f4")
            self.context.framebuffer([probe]).release()
            probe.release()
        except moderngl.Error as error:
            raise DeviceError(self.name, f"cannot render to float textures ({error})", "another driver may") from None
        self.software_form = self.software
        if self.software:
            set_samplers(self.context, self.max_samplers)
        build = "\0".join(str(self.info[name]) for name in ("GL_VENDOR", "GL_RENDERER", "GL_VERSION"))
        inner = self.context.mglo._context
        prelinked = inner if isinstance(inner, PrelinkedContext) else None
        self.compiler = Compiler(self.context, prelinked, self.load, self.extensions, build, self.binaries)
        self._deferred: Batch | None = None  # that takes programs which are not compiled at once

    @property
    def name(self) -> str:
        """The renderer's name, as the driver gives it."""
        return str(self.info["GL_RENDERER"])

    @property
    def driver(self) -> str:
        """The renderer and its driver version: bits are reproducible for each of these."""
        return driver_name(self.name, str(self.info["GL_VERSION"]))

    @property
    def software(self) -> bool:
        """Whether the driver rasterises on the CPU."""
        return any(word in self.name.lower() for word in ("llvmpipe", "softpipe", "swrast", "swiftshader", "software"))

    @property
    def concurrent(self) -> bool:
        """Whether the device computes while the host does something else."""
        return not self.software

    @contextmanager
    def polling(self, polls: bool) -> Iterator[None]:
        """Within the block, where the host ``polls``, calls return without their answer, to be called again."""
        previous, self.polls = self.polls, polls
        try:
            yield
        finally:
            self.polls = previous

    @property
    def max_samplers(self) -> int:
        """Textures per fragment program: 16 or more."""
        return int(self.info["GL_MAX_TEXTURE_IMAGE_UNITS"])

    @property
    def max_texture(self) -> int:
        """Largest edge of a 2-D texture, texels."""
        granted = int(self.info["GL_MAX_TEXTURE_SIZE"])
        return granted if self.limits is None else min(granted, self.limits.texture)

    @property
    def outputs(self) -> int:
        """Output textures per pass of the multipass machine; wider steps take several passes."""
        return MAX_ATTACHMENTS if self.limits is None else self.limits.outputs

    def stored(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Values as stored in textures: rounded to the imposed float format, if any."""
        return rounded(values) if self.limits is not None and self.limits.rounds else values

    @property
    def max_volume(self) -> int:
        """Largest edge of a 3-D texture, texels."""
        return int(self.info["GL_MAX_3D_TEXTURE_SIZE"])

    @cached_property
    def texture_barrier(self) -> Callable[[], None] | None:
        """``glTextureBarrier`` (4.5, ARB or NV); None if unsupported or disabled."""
        extensions = self.extensions
        arb = self.context.version_code >= 450 or "GL_ARB_texture_barrier" in extensions
        names = ["glTextureBarrier"] if arb else []
        names += ["glTextureBarrierNV"] if "GL_NV_texture_barrier" in extensions else []
        if not self.allow_barrier:
            return None
        for name in names:
            function = self.load(name, None)
            if function is not None:
                return function
        return None

    @cached_property
    def flush(self) -> Callable[[], None]:
        """``glFlush``: starts the commands drawn so far, without waiting for them."""
        return self.require("glFlush")

    def wait(self) -> None:
        """Wait until the device has executed all commands so far."""
        self.waits += 1
        self.context.finish()

    def simulated_time(self) -> int:
        """Nanoseconds on the clock of a device that simulates slower draws, after all commands so far; 0 of others. A
        software driver's own timers know of the last tile of a draw alone."""
        if self.slowness == 1:
            return 0
        self.context.finish()
        return int(time.perf_counter() * self.slowness * 1e9)

    @property
    def stencil_export(self) -> bool:
        """Whether fragment programs can write the stencil value (ARB_shader_stencil_export)."""
        return "GL_ARB_shader_stencil_export" in self.extensions

    @property
    def has_precise(self) -> bool:
        """Whether shaders of GLSL 3.30 can have ``precise`` variables (ARB_gpu_shader5)."""
        return "GL_ARB_gpu_shader5" in self.extensions

    @property
    def array_stores(self) -> bool:
        """Whether a fragment program can keep a stack (`array_stores`)."""
        # No `functools.cached_property`: it has a lock in Python 3.11, which would be held in the wait for the context.
        with self.current():
            if self._array_stores is None:
                self._array_stores = array_stores(self.context)
            return self._array_stores

    def load(self, name: str, result: Any, *arguments: Any) -> Callable[..., Any] | None:
        """A raw OpenGL function without a moderngl wrapper; None if the driver lacks it."""
        inner = self.context.mglo._context
        address = (inner.context if isinstance(inner, PrelinkedContext) else inner).load_opengl_function(name)
        return KIND(result, *arguments)(address) if address else None

    def require(self, name: str, *arguments: Any, result: Any = None) -> Callable[..., Any]:
        """A raw OpenGL function of every 3.3. Raises DeviceError if this driver lacks it."""
        key = name, result, arguments
        if key not in self._functions:
            function = self.load(name, result, *arguments)
            if function is None:
                raise DeviceError(self.name, f"the driver has no {name}", "update the graphics driver")
            self._functions[key] = function
        return self._functions[key]

    @property
    def compiled(self) -> int:
        """Programs compiled so far."""
        return self.compiler.compiled

    def program(self, vertex: Source, fragment: Source) -> moderngl.Program:
        """Compile and link. Raises ShaderError with the driver's log mapped to the source files."""
        return self._compilation(vertex, "fragment_shader", fragment).finish()

    def feedback_program(self, vertex: Source, geometry: Source, outputs: tuple[str, ...]) -> moderngl.Program:
        """Compile and link a program for transform feedback of these outputs of its geometry program.

        Raises ShaderError with the driver's log mapped to the source files.
        """
        return self._compilation(vertex, "geometry_shader", geometry, outputs).finish()

    def compilation(self, vertex: Source, fragment: Source) -> Compilation:
        """A program that is compiled and linked; within `deferred` it is still to be. Raises ShaderError."""
        compilation = self._compilation(vertex, "fragment_shader", fragment)
        if self._deferred is None:
            compilation.finish()
        else:
            self._deferred.append(compilation)
        return compilation

    def _compilation(self, vertex: Source, stage: str, other: Source, varyings: tuple[str, ...] = ()) -> Compilation:
        self.files.update(vertex.files, other.files)
        if not self.precise and EXACT in other.files:
            other = other.defining(WITHOUT_PRECISE)
        return Compilation(self.compiler, vertex, stage, other, varyings)

    @contextmanager
    def deferred(self) -> Iterator[Batch]:
        """Collect the programs of `compilation` in a batch, to be compiled side by side; the context must be current
        throughout."""
        previous, self._deferred = self._deferred, Batch()
        try:
            yield self._deferred
        finally:
            self._deferred = previous

    def describe(self) -> dict[str, Any]:
        """The driver's properties and capabilities, as data."""
        with self.current():
            glsl, max_buffer = self._string(_SHADING_LANGUAGE_VERSION), self._integer(_MAX_BUFFER)
        info = self.info
        version = self.context.version_code
        extensions = self.extensions
        return {
            "vendor": str(info["GL_VENDOR"]),
            "renderer": self.name,
            "version": str(info["GL_VERSION"]),
            "glsl": glsl,
            "opengl": f"{version // 100}.{version % 100 // 10}",
            "max_texture_size": self.max_texture,
            "max_3d_texture_size": self.max_volume,
            "max_buffer_texture_size": max_buffer,
            "max_attachments": int(info.get("GL_MAX_DRAW_BUFFERS", 8)),
            "max_samplers": int(info.get("GL_MAX_TEXTURE_IMAGE_UNITS", 16)),
            "texture_barrier": self.texture_barrier is not None,
            "early_fragment_tests": version >= 420 or "GL_ARB_shader_image_load_store" in extensions,
            "compute": version >= 430 or "GL_ARB_compute_shader" in extensions,
            "software": self.software,
        }

    def _integer(self, name: int) -> int:
        value = ctypes.c_int(0)
        self.require("glGetIntegerv", ctypes.c_uint, ctypes.POINTER(ctypes.c_int))(name, ctypes.byref(value))
        return value.value

    def _string(self, name: int) -> str:
        get = self.load("glGetString", ctypes.c_char_p, ctypes.c_uint)
        value = get(name) if get else None
        return value.decode(errors="replace") if value else ""

    def check(self) -> None:
        """Raises DeviceError where the context can never become current: in a forked process, and for a window's
        context in another thread."""
        Process.check()
        if not self.headless and threading.get_ident() != self._home:
            raise DeviceError(
                "OpenGL", "this context is a window's, which stays in the window's thread", "make a Renderer without it"
            )

    @contextmanager
    def current(self) -> Iterator[None]:
        """Make this the thread's OpenGL context, if headless (a window keeps its own). Other threads wait for their
        turn.

        Raises DeviceError in a process forked since OpenGL was opened, and in another thread than a window's.
        """
        with self.lock:
            leave: Callable[[], None] | None = None
            if self.headless and not (this_thread.device is self and contexts.is_current(self._handle)):
                leave = self._enter()
            self._current_depth += 1
            try:
                self._free_dropped()
                yield
            finally:
                self._current_depth -= 1
                if leave is not None and self._kept_depth and self._leave is None:
                    self._leave = leave  # at the scope's end, or where another thread waits
                elif leave is not None:
                    leave()
                if self._kept_depth and not self._current_depth and self.lock.contended:
                    with self.lent_context():
                        pass

    def _enter(self) -> Callable[[], None]:
        """Make it the thread's context; returns a function that restores the previous one."""
        previous, restore_foreign = this_thread.device, contexts.leave_current()
        this_thread.device = self

        def leave() -> None:
            self.context.__exit__(None, None, None)
            restore()

        def restore() -> None:
            this_thread.device = previous
            if previous is not None:  # leaving a context leaves none current
                previous.context.__enter__()
            restore_foreign()

        try:
            self.context.__enter__()
        except BaseException:
            restore()
            raise
        if not contexts.is_current(self._handle):
            leave()
            raise DeviceError("OpenGL", "another library has ended the context", _ENDED)
        return leave

    @contextmanager
    def kept_current(self) -> Iterator[None]:
        """Within the block the context stays current from the first use of `current` on: to switch takes longer than
        many a pass. Threads that wait for it get it between two uses, and during `lent_context`."""
        if not self.headless:
            yield
            return
        with self.lock:
            self._kept_depth += 1
            try:
                yield
            finally:
                self._kept_depth -= 1
                if not self._kept_depth:
                    self._leave_context()

    @contextmanager
    def lent_context(self) -> Iterator[None]:
        """For the host's work in a `kept_current` block: other threads may use the context meanwhile, and this one has
        the context of before the block."""
        if not self.lock.held or not self._kept_depth or self._current_depth:
            yield
            return
        self._leave_context()
        scopes, self._kept_depth = self._kept_depth, 0
        try:
            with self.lock.lent():
                yield
        finally:
            self._kept_depth = scopes

    def lending_context(self, function: Callable[P, Result]) -> Callable[P, Result]:
        """The function, called within `lent_context`."""

        @wraps(function)
        def call(*arguments: P.args, **keywords: P.kwargs) -> Result:
            with self.lent_context():
                return function(*arguments, **keywords)

        return call

    def _leave_context(self) -> None:
        leave, self._leave = self._leave, None
        if leave is not None:
            leave()

    def steps(self, steps: Iterator[Result]) -> Iterator[Result]:
        """The same steps, with the context current in each, and not between them."""
        end = object()
        while True:
            with self.current():
                step = next(steps, end)
            if step is end:
                return
            yield cast(Result, step)

    @property
    def ended(self) -> bool:
        """Whether another library has ended the context with all its objects: VTK ends the EGL display that it shares
        with others as its windows come and go."""
        if not self.headless:
            return False
        try:
            with self.current():
                return False
        except DeviceError:
            Process.check()
            return True

    def _free_dropped(self) -> None:
        """Free the objects dropped in Python since; moderngl's own gc() fails on objects already released."""
        dropped = self.context.objects
        while dropped:
            garbage = dropped.popleft()
            if hasattr(garbage, "release"):
                garbage.release()

    def release(self) -> None:
        """Release the context with its textures and programs."""
        with self.lock:
            self.context.release()


class OnDevice(Protocol):
    """An object with a device."""

    @property
    def device(self) -> Device:
        """Its context is current while one of the `in_context` methods runs."""


Owner = TypeVar("Owner", bound=OnDevice)


def in_context(method: Callable[Concatenate[Owner, P], Result]) -> Callable[Concatenate[Owner, P], Result]:
    """Decorate a method to run in the context of the object's device, whichever is current where it is called: names of
    textures and framebuffers mean others' objects there."""

    @wraps(method)
    def run(self: Any, *arguments: P.args, **keywords: P.kwargs) -> Result:
        with self.device.current():
            return method(self, *arguments, **keywords)

    return run


def in_one_switch(method: Callable[Concatenate[Owner, P], Result]) -> Callable[Concatenate[Owner, P], Result]:
    """Decorate a method to make the context of the object's device current once, where it is used at all: see
    `Device.kept_current`."""

    @wraps(method)
    def run(self: Any, *arguments: P.args, **keywords: P.kwargs) -> Result:
        with self.device.kept_current():
            return method(self, *arguments, **keywords)

    return run


def driver_name(renderer: str, version: str) -> str:
    """See `Device.driver`."""
    return f"{renderer}, OpenGL {version}"


# -- opening of devices ------------------------------------------------------------------------------------------------

DEVICE_VARIABLE = "RAYSTREAM_GL_DEVICE"
_INSTALL = "install a graphics driver; on Debian and Ubuntu without a GPU: libegl1 libgl1 libgl1-mesa-dri"
_MAX_DEVICES = 64  # EGL may list devices without end


def open_device(index: int | None = None, barrier: bool = True, buffers: bool = True, limits: str = "none") -> Device:
    """A headless device: EGL on Linux, the platform's standalone context elsewhere.

    index : number of the EGL device; else ``RAYSTREAM_GL_DEVICE``, else the driver's choice. limits : a name of
    `LIMITS`, or ``none``. Raises DeviceError with an installation hint without OpenGL 3.3, and in a process forked from
    one with a device.
    """
    Process.check()
    if index is None and os.environ.get(DEVICE_VARIABLE):
        try:
            index = int(os.environ[DEVICE_VARIABLE])
        except ValueError:
            raise DeviceError(
                DEVICE_VARIABLE, f"not a number: '{os.environ[DEVICE_VARIABLE]}'", "see `raystream devices`"
            ) from None
    if index is not None and index < 0:  # EGL's error differs among drivers
        raise DeviceError("OpenGL", f"no device {index}", "see `raystream devices`")
    settings: dict[str, Any] = {"mode": "standalone", "glversion": 330}
    if sys.platform.startswith("linux"):
        if index is not None:
            settings["device_index"] = index
    elif index is not None:
        raise DeviceError("--device", "choosing a device needs EGL, which is on Linux only", "leave it out")
    with _opening:
        Process.opened, remark = True, disable_cache_on_full_disk()
        restore = contexts.leave_current()
        try:
            linux = sys.platform.startswith("linux")
            backend = glcontext.get_backend_by_name("egl") if linux else glcontext.default_backend()
            prelinked: Any = PrelinkedContext(backend(**settings))
            context = moderngl.create_context(require=330, standalone=True, context=prelinked)
        except Exception as error:
            restore()
            raise _no_context(error, index) from None
        try:
            return Device(context, barrier, buffers, headless=True, limits=LIMITS.get(limits), remark=remark)
        finally:  # a new context becomes current, which would block other threads
            context.__exit__(None, None, None)
            if this_thread.device is not None:
                this_thread.device.context.__enter__()
            restore()


_opening = threading.RLock()
_shared: dict[tuple[int | None, bool, bool, str], Device] = {}


def shared_device(index: int | None = None, barrier: bool = True, buffers: bool = True, limits: str = "none") -> Device:
    """The process's headless device of that number, opened once and shared: contexts are heavy, and renderers many.
    Reopened if another library has ended its context."""
    Process.check()
    key = (index, barrier, buffers, limits)
    with _opening:
        if key not in _shared or _shared[key].ended:
            _shared[key] = open_device(*key)
        return _shared[key]


def devices() -> list[dict[str, Any]]:
    """The devices that `open_device` accepts, each as in `Device.describe` with its index; unusable ones have an
    ``error``."""
    if not sys.platform.startswith("linux"):
        device = open_device()
        description = {"index": None, "default": True, **device.describe()}
        device.release()
        return [description]
    descriptions: list[dict[str, Any]] = []
    preferred = open_device().describe()  # raises a clear error without any OpenGL
    for index in range(_MAX_DEVICES):
        try:
            device = open_device(index)
        except DeviceError as error:
            if "no device" in error.what:
                break
            descriptions.append({"index": index, "default": False, "error": str(error)})
            continue
        description = device.describe()
        device.release()
        is_default = description["renderer"] == preferred["renderer"] and not any(d["default"] for d in descriptions)
        descriptions.append({"index": index, "default": is_default, **description})
    return descriptions


def _no_context(error: Exception, index: int | None) -> DeviceError:
    """The error of a context that could not be created, from the library's message."""
    text = " ".join(str(error).split())
    if index is None and ("found 0 devices" in text or "eglQueryDevicesEXT" in text):
        return DeviceError("OpenGL", f"EGL finds no device ({text})", _INSTALL)
    if "requested device index" in text or "eglQueryDevicesEXT" in text or "out of range" in text:
        return DeviceError("OpenGL", f"no device {index} ({text})", "see `raystream devices`")
    if "libEGL" in text or "libGL" in text:
        return DeviceError("OpenGL", f"library not found ({text})", _INSTALL)
    return DeviceError("OpenGL", f"no context of OpenGL 3.3 ({text})", _INSTALL)

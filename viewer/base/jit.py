"""Loops compiled to machine code where that pays, interpreted for small work.

A loop is a function of arrays and numbers that numba can compile; it writes into given arrays and returns numbers. It
allocates and raises nothing, so that its machine code runs without numba. Compilation takes seconds, once per machine;
the object file is kept in the user's cache folder. Later processes link it by LLVM in milliseconds, where importing
numba alone would take a third of a second (`raystream.base.jit_cache`).

Each combination of array types and dimensions is compiled separately.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from raystream.base.interrupts import UNWAITED

if TYPE_CHECKING:
    from raystream.base.jit_cache import Object

on_compile: list[Callable[[], None]] = []  # each called once, before the next loop is compiled
_helpers: list[Callable] = []
_loaded: dict[tuple[Any, ...], Callable] = {}
_lock = threading.Lock()  # one thread compiles a loop, others wait

LONG = 1 << 27  # bytes of a loop's arrays from which on it may take longer than the end of a process should

# Kinds of numbers: C types, and Python types.
NUMBERS = {"b": ctypes.c_bool, "i": ctypes.c_int64, "f": ctypes.c_double}
PYTHON: dict[str, Callable[[Any], Any]] = {"b": bool, "i": int, "f": float}


def helper(function: Callable) -> Callable:
    """Decorate a function called by loops, so that compiled loops can call it."""
    _helpers.append(function)
    return function


def run(loop: Callable, *arguments: Any, small: bool = False) -> Any:
    """Run the loop with these arguments, compiled unless the work is ``small``; returns its result. Arrays must be
    C-contiguous. Numbers are returned as Python's; integers of a compiled loop are exact up to 2^53."""
    if small:
        with np.errstate(all="ignore"):  # as machine code does
            result = loop(*arguments)
        return tuple(map(_python_number, result)) if isinstance(result, tuple) else _python_number(result)
    return _compiled(loop, arguments)(arguments)()


def bind(loop: Callable, *arguments: Any) -> Callable[[], Any]:
    """A function that calls the compiled loop with these arguments, for thousands of calls on the same arrays, which
    must be C-contiguous."""
    return _compiled(loop, arguments)(arguments)


def _compiled(loop: Callable, arguments: tuple[Any, ...]) -> Callable[[tuple[Any, ...]], Callable[[], Any]]:
    """The compiled loop for the types of these arguments, see `_call`."""
    types = tuple(map(_type_key, arguments))
    compiled = _loaded.get((loop, types))
    if compiled is None:
        with _lock:
            compiled = _loaded.get((loop, types))
            if compiled is None:
                compiled = _loaded[loop, types] = _load(loop, types)
    return compiled


def _python_number(result: Any) -> Any:
    return result.item() if isinstance(result, np.generic) else result


def _type_key(argument: Any) -> str:
    """The key of compiled variants: "f8 2" for an array of float64 with two dimensions; "b", "i", "f"."""
    if isinstance(argument, np.ndarray):
        if not argument.flags.c_contiguous:
            raise TypeError("a loop takes C-contiguous arrays")
        return f"{argument.dtype.str[1:]} {argument.ndim}"
    if isinstance(argument, (bool, np.bool_)):
        return "b"
    return "i" if isinstance(argument, (int, np.integer)) else "f"


def _load(loop: Callable, types: tuple[str, ...]) -> Callable:
    """The loop's machine code, from the cache or compiled, as the function that `_call` returns."""
    from raystream.base import jit_cache

    key = jit_cache.key(loop.__name__, repr((types, list(_dependencies(loop, set())))))
    machine_code = jit_cache.find(key)
    if machine_code is None:
        while on_compile:
            on_compile.pop()()
        from raystream.base.jit_compile import compiled

        machine_code = compiled(loop, types, _helpers, key)
        jit_cache.keep(key, machine_code)
    return _call(jit_cache.link(key, machine_code), types, machine_code)


def _call(address: int, types: tuple[str, ...], machine_code: Object) -> Callable:
    """A function from a loop's tuple of arguments to a function without arguments that runs the machine code on
    them."""
    kinds: list[Any] = []
    for type_ in types:
        number = NUMBERS.get(type_)
        kinds += [number] if number else [ctypes.c_void_p] + [ctypes.c_int64] * int(type_.split()[1])
    entry = ctypes.CFUNCTYPE(None, *kinds, ctypes.c_void_p)(address)
    is_tuple = machine_code.results.startswith("(")
    convert = [PYTHON[kind] for kind in machine_code.results.lstrip("(")]

    def bind(
        arguments: tuple[Any, ...], code_owner: Object = machine_code
    ) -> Callable[[], Any]:  # the code lives as long as this
        flat: list[Any] = []
        for argument, type_ in zip(arguments, types, strict=True):
            if isinstance(argument, np.ndarray):
                flat += (argument.ctypes.data, *argument.shape)
            else:
                flat.append(PYTHON[type_](argument))
        out = (ctypes.c_double * len(convert))()
        flat.append(ctypes.addressof(out))

        takes_long = sum(array.nbytes for array in arguments if isinstance(array, np.ndarray)) > LONG

        def call(alive: tuple[Any, ...] = arguments, code: Any = (bind, out)) -> Any:  # keeps arrays and results alive
            if takes_long and threading.current_thread() is threading.main_thread():
                _run_in_thread(lambda: (entry(*flat), alive, code))
            else:
                entry(*flat)
            results = tuple(make(value) for make, value in zip(convert, out, strict=True))
            return results if is_tuple else results[0] if results else None

        return call

    return bind


def _run_in_thread(work: Callable[[], Any]) -> None:
    """Run machine code in a thread while the main thread waits, where signals such as Ctrl-C are handled. After a
    signal the work goes on until it or the process ends."""
    finished = threading.Event()

    def begin() -> None:
        try:
            work()
        finally:
            finished.set()

    threading.Thread(target=begin, name=UNWAITED, daemon=True).start()
    finished.wait()  # an interrupted `Thread.join` would take the thread for ended


def _dependencies(function: Callable, visited: set[Callable]) -> Iterator[Any]:
    """All that a function's machine code depends on: its bytecode, that of its helpers, and values of constants."""
    if function in visited:
        return
    visited.add(function)
    assert isinstance(function, FunctionType)
    yield function.__name__, function.__defaults__, *_code_content(function.__code__)
    for name in sorted({*function.__code__.co_names}):
        value = function.__globals__.get(name)
        if isinstance(value, FunctionType):
            yield from _dependencies(value, visited)
        elif isinstance(value, np.ndarray):
            yield name, value.dtype.str, value.shape, value.tobytes()
        elif value is not None and not isinstance(value, ModuleType):
            yield name, repr(value)


def _code_content(code: CodeType) -> Iterator[Any]:
    constants = [
        tuple(_code_content(constant)) if isinstance(constant, CodeType) else repr(constant)
        for constant in code.co_consts
    ]
    yield from (code.co_code, constants, code.co_names, code.co_varnames)

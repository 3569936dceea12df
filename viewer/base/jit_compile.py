"""Compiles loops with numba into object files that run without numba."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from numba import carray, cfunc, from_dtype, njit, types
from numba.extending import register_jitable
from numpy import dtype

from raystream.base.jit_cache import Object, target_machine

NUMBERS = {"b": types.boolean, "i": types.int64, "f": types.float64}
# Functions of the C library available to machine code in any process.
LIBRARY = ("acos", "ceil", "floor", "fmod", "memcpy", "memmove", "memset", "pow", "sqrt")


def compiled(loop: Callable, type_keys: tuple[str, ...], helpers: list[Callable], symbol: str) -> Object:
    """The machine code of a loop for arguments of these types (see `jit.run`).

    It is called as a C function of, for each array, its address and its shape; numbers; and an address for the results
    as float64. helpers : functions called by loops, removed from the list. symbol : the function's name in the object
    file.

    A loop that allocates or raises runs, but needs numba, so that every process compiles it: RuntimeWarning. Raises
    TypeError for results other than numbers.
    """
    while helpers:
        register_jitable(helpers.pop())
    native = njit(error_model="numpy")(loop)  # divides as NumPy does
    native.compile(tuple(_numba_type(type_key) for type_key in type_keys))
    results = _results(loop, native.nopython_signatures[0].return_type)
    names, values, signature = [], [], []
    for k, type_key in enumerate(type_keys):
        names.append(f"a{k}")
        if type_key in NUMBERS:
            values.append(f"a{k}")
            signature.append(_numba_type(type_key))
            continue
        shape = [f"a{k}_{axis}" for axis in range(int(type_key.split()[1]))]
        names += shape
        values.append(f"carray(a{k}, ({', '.join(shape)},))")
        signature += [types.CPointer(_numba_type(type_key).dtype)] + [types.int64] * len(shape)
    call = f"loop({', '.join(values)})"
    if results.startswith("("):
        stores = "".join(f"\n    out[{k}] = result[{k}]" for k in range(len(results) - 1))
    else:
        stores = "\n    out[0] = result" if results else ""
    scope: dict[str, Any] = {"loop": native, "carray": carray}
    exec(f"def entry({', '.join(names)}, out):\n    result = {call}{stores}", scope)
    entry = cfunc(types.void(*signature, types.CPointer(types.float64)), error_model="numpy")(scope["entry"])
    code = _code(entry, symbol)
    if not code:
        warnings.warn(f"loop {loop.__name__} allocates or raises: every process compiles it", RuntimeWarning, 2)
    return Object(results, code, entry)


def _numba_type(type_key: str) -> Any:
    """Numba's type of a key as of `jit.run`: "b", "i", "f", or an array as "f8 2"."""
    if type_key in NUMBERS:
        return NUMBERS[type_key]
    name, dimensions = type_key.split()
    return types.Array(from_dtype(dtype(name)), int(dimensions), "C")


def _results(loop: Callable, return_type: Any) -> str:
    """The kinds of a loop's results, as in `Object`, from numba's type. Raises TypeError."""
    is_tuple = isinstance(return_type, types.BaseTuple)
    letters = ""
    for result in return_type if is_tuple else () if return_type == types.none else (return_type,):
        if isinstance(result, types.Boolean):
            letters += "b"
        elif isinstance(result, (types.Integer, types.Float)):
            letters += "i" if isinstance(result, types.Integer) else "f"
        else:
            raise TypeError(f"loop {loop.__name__} returns {result}")
    return "(" + letters if is_tuple else letters


def _code(entry: Any, symbol: str) -> bytes:
    """The entry's machine code alone; empty if it calls numba. Numba adds code that reports exceptions to Python. With
    the entry as the only exported function, LLVM proves that none is raised, and removes it."""
    machine = target_machine()
    module = llvm.parse_assembly(entry.inspect_llvm())
    for function in module.functions:
        if function.name == entry.native_name:
            function.name = symbol
        elif not function.is_declaration:
            function.linkage = "internal"
    passes = llvm.create_new_module_pass_manager()
    passes.add_ipsccp_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    for function in module.functions:
        name = function.name
        if function.is_declaration and not name.startswith("llvm.") and name not in LIBRARY:
            return b""
    return bytes(machine.emit_object(module))

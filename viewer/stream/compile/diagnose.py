"""Faults of a kernel's own source that a driver's message does not name: another signature than the declared one, and a
function of a module that the kernel calls without naming it in ``needs``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from raystream.base.errors import ShaderError, WiringError
from raystream.stream.compile.link import LinkedProgram
from raystream.stream.compile.source import Origin, Source, blank_comments
from raystream.stream.declare.kernel import Kernel

_CALL = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\s*\(")
_DEFINITION = re.compile(r"^\s*(\w+)\s+(\w+)\s*\(([^()]*)\)\s*\{", re.MULTILINE)
_WORD = re.compile(r"\w+")
_PARAMETER = re.compile(r"(?:const\s+)?(?:(in|out|inout)\s+)?(\w+)")

Function = tuple[str, str, tuple[tuple[str, str], ...]]  # result, name, (access, type) of each parameter


def check_needs(source: Source, linked: LinkedProgram, kernel: Kernel, log: str = "") -> None:
    """Raises WiringError where a kernel calls a module's function, or a driver's ``log`` names a uniform or constant of
    a module, that the kernel does not need. source : with the kernel's file."""
    text, _ = _own(source, kernel)
    words = set(_CALL.findall(text)) - {definition[2] for definition in _DEFINITION.finditer(text)}
    foreign = words & linked.providers.keys()
    logged = set(_WORD.findall(text)) & set(_WORD.findall(log)) if log else set()
    if not foreign and not logged:
        return
    declared_modules = {id(module) for module in linked.modules_for([kernel])}
    needs = {name: name for name in foreign if id(linked.providers[name]) not in declared_modules}
    for module in linked.modules if logged else ():
        if id(module) not in declared_modules and module.provides:
            names = (*module.uniforms, *module.constants)
            needs |= {name: module.provides[0] for name in names if name in logged}
    for name, need in sorted(needs.items()):
        verb = "calls" if name in words else "uses"
        raise WiringError(f"kernel {kernel.name}", f"{verb} {name}", f"name {need} in its needs")


def diagnosis(linked: LinkedProgram, kernels: Sequence[Kernel], source: Source, log: str) -> ShaderError | None:
    """The fault of one of the kernels of a program that does not compile or link; None where it is another one."""
    for kernel in (kernel for kernel in kernels if kernel.file):
        signature_error = _wrong_signature(source, kernel)
        if signature_error is not None:
            return signature_error
        try:
            check_needs(source, linked, kernel, log)
        except WiringError as error:
            return ShaderError(error.where, error.what, error.hint)
    return None


def _own(source: Source, kernel: Kernel) -> tuple[str, list[Origin]]:
    """The text of a kernel's own file as it is in a program, without comments, and the origin of each line."""
    lines = [(line, origin) for line, origin in source.lines if origin.file == kernel.file]
    return blank_comments("\n".join(line for line, _ in lines)), [origin for _, origin in lines]


def _wrong_signature(source: Source, kernel: Kernel) -> ShaderError | None:
    """The error for a file without the function that its declaration asks for."""
    text, origins = _own(source, kernel)
    declared = kernel.prototype().removesuffix(";")
    expected = _function(*re.findall(r"(\w+) (\w+)\((.*)\)", declared)[0])
    defined = [(match.start(2), _function(*match.groups())) for match in _DEFINITION.finditer(text)]
    if any(function == expected for _, function in defined):
        return None
    where, has = kernel.file, ""
    for start, function in sorted(defined, key=lambda definition: definition[1][1] == kernel.name):
        if function[0] == "int" or function[1] == kernel.name:
            where, has = str(origins[text.count("\n", 0, start)]), f"it has {_glsl(function)}"
    return ShaderError(where, f"no function {declared}", has)


def _function(result: str, name: str, parameters: str) -> Function:
    matches = (_PARAMETER.match(parameter.strip()) for parameter in parameters.split(","))
    return result, name, tuple((match[1] or "in", match[2]) for match in matches if match and match[2] != "void")


def _glsl(function: Function) -> str:
    result, name, parameters = function
    return f"{result} {name}({', '.join(' '.join(parameter) for parameter in parameters)})"

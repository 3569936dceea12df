"""SPIR-V of generated programs, by glslangValidator, read into functions of blocks of instructions.

No Python package of a SPIR-V compiler has current wheels for this project's platforms, so the system's tool is used
(Debian and Ubuntu: glslang-tools; others: the Vulkan SDK).

Khronos Group, "SPIR-V Specification", section 2.3 (physical layout) and 3 (binary form).
"""

from __future__ import annotations

import shutil
import struct
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

VALIDATOR = "glslangValidator"
MAGIC = 0x07230203
SECONDS = 60  # for a program; the largest take about one

# Instruction numbers; others do not occur in glslang's fragment programs.
NAMES = {
    **{1: "Undef", 5: "Name", 12: "ExtInst", 15: "EntryPoint"},
    **{19: "TypeVoid", 20: "TypeBool", 21: "TypeInt", 22: "TypeFloat", 23: "TypeVector", 24: "TypeMatrix"},
    **{25: "TypeImage", 26: "TypeSampler", 27: "TypeSampledImage", 28: "TypeArray", 30: "TypeStruct"},
    **{32: "TypePointer", 33: "TypeFunction", 41: "ConstantTrue", 42: "ConstantFalse", 43: "Constant"},
    **{44: "ConstantComposite", 46: "ConstantNull", 54: "Function", 55: "FunctionParameter", 56: "FunctionEnd"},
    **{57: "FunctionCall", 59: "Variable", 61: "Load", 62: "Store", 63: "CopyMemory", 65: "AccessChain"},
    **{77: "VectorExtractDynamic", 78: "VectorInsertDynamic", 79: "VectorShuffle", 80: "CompositeConstruct"},
    **{81: "CompositeExtract", 82: "CompositeInsert", 83: "CopyObject", 84: "Transpose", 86: "SampledImage"},
    **{87: "ImageSampleImplicitLod", 88: "ImageSampleExplicitLod", 95: "ImageFetch", 96: "ImageGather"},
    **{100: "Image", 103: "ImageQuerySizeLod", 104: "ImageQuerySize", 105: "ImageQueryLod", 106: "ImageQueryLevels"},
    **{109: "ConvertFToU", 110: "ConvertFToS", 111: "ConvertSToF", 112: "ConvertUToF", 124: "Bitcast"},
    **{126: "SNegate", 127: "FNegate", 128: "IAdd", 129: "FAdd", 130: "ISub", 131: "FSub", 132: "IMul", 133: "FMul"},
    **{134: "UDiv", 135: "SDiv", 136: "FDiv", 137: "UMod", 138: "SRem", 139: "SMod", 140: "FRem", 141: "FMod"},
    **{142: "VectorTimesScalar", 143: "MatrixTimesScalar", 144: "VectorTimesMatrix", 145: "MatrixTimesVector"},
    **{146: "MatrixTimesMatrix", 147: "OuterProduct", 148: "Dot", 149: "IAddCarry", 150: "ISubBorrow"},
    **{151: "UMulExtended", 152: "SMulExtended", 154: "Any", 155: "All", 156: "IsNan", 157: "IsInf"},
    **{164: "LogicalEqual", 165: "LogicalNotEqual", 166: "LogicalOr", 167: "LogicalAnd", 168: "LogicalNot"},
    **{169: "Select", 170: "IEqual", 171: "INotEqual", 172: "UGreaterThan", 173: "SGreaterThan"},
    **{174: "UGreaterThanEqual", 175: "SGreaterThanEqual", 176: "ULessThan", 177: "SLessThan"},
    **{178: "ULessThanEqual", 179: "SLessThanEqual", 180: "FOrdEqual", 181: "FUnordEqual", 182: "FOrdNotEqual"},
    **{183: "FUnordNotEqual", 184: "FOrdLessThan", 185: "FUnordLessThan", 186: "FOrdGreaterThan"},
    **{187: "FUnordGreaterThan", 188: "FOrdLessThanEqual", 189: "FUnordLessThanEqual"},
    **{190: "FOrdGreaterThanEqual", 191: "FUnordGreaterThanEqual", 194: "ShiftRightLogical"},
    **{195: "ShiftRightArithmetic", 196: "ShiftLeftLogical", 197: "BitwiseOr", 198: "BitwiseXor", 199: "BitwiseAnd"},
    **{200: "Not", 201: "BitFieldInsert", 202: "BitFieldSExtract", 203: "BitFieldUExtract", 204: "BitReverse"},
    **{205: "BitCount", 207: "DPdx", 208: "DPdy", 209: "Fwidth", 245: "Phi", 246: "LoopMerge"},
    **{247: "SelectionMerge", 248: "Label", 249: "Branch", 250: "BranchConditional", 251: "Switch", 252: "Kill"},
    **{253: "Return", 254: "ReturnValue", 255: "Unreachable"},
}
# Extended instructions of GLSL.std.450.
FUNCTIONS = {
    **{1: "Round", 2: "RoundEven", 3: "Trunc", 4: "FAbs", 5: "SAbs", 6: "FSign", 7: "SSign", 8: "Floor", 9: "Ceil"},
    **{10: "Fract", 11: "Radians", 12: "Degrees", 13: "Sin", 14: "Cos", 15: "Tan", 16: "Asin", 17: "Acos"},
    **{18: "Atan", 19: "Sinh", 20: "Cosh", 21: "Tanh", 25: "Atan2", 26: "Pow", 27: "Exp", 28: "Log", 29: "Exp2"},
    **{30: "Log2", 31: "Sqrt", 32: "InverseSqrt", 33: "Determinant", 34: "MatrixInverse", 37: "FMin", 38: "UMin"},
    **{39: "SMin", 40: "FMax", 41: "UMax", 42: "SMax", 43: "FClamp", 44: "UClamp", 45: "SClamp", 46: "FMix"},
    **{48: "Step", 49: "SmoothStep", 50: "Fma", 66: "Length", 67: "Distance", 68: "Cross", 69: "Normalize"},
    **{70: "FaceForward", 71: "Reflect", 72: "Refract", 73: "FindILsb", 74: "FindSMsb", 75: "FindUMsb"},
}
RESULTLESS = frozenset(
    ("Store", "CopyMemory", "LoopMerge", "SelectionMerge", "Branch", "BranchConditional", "Switch", "Kill", "Return")
) | {"ReturnValue", "Unreachable", "FunctionEnd", "Name", "EntryPoint"}
OUTPUT = 3  # storage class


class NoCompiler(Exception):
    """glslangValidator is not installed, or rejects a program."""


@dataclass(frozen=True)
class Type:
    """kind: void, bool, int, float, vector, matrix, array, struct, pointer, opaque. size: bits of a scalar, parts of
    the rest. parts: ids of the types of its parts; of arrays, vectors and matrices one."""

    kind: str
    size: int = 0
    parts: tuple[int, ...] = ()


@dataclass(frozen=True)
class Operation:
    """An instruction: its name, type (0: none), result id (0: none) and operands."""

    name: str
    type: int
    result: int
    operands: tuple[int, ...]


@dataclass
class BasicBlock:
    """Operations; the last one leaves the block. merge: the block after a selection or loop; again: a loop's
    continue."""

    operations: list[Operation] = field(default_factory=list)
    merge: int = 0
    again: int = 0


@dataclass
class Function:
    """Blocks by label; the first is ``entry``."""

    name: str
    parameters: list[int] = field(default_factory=list)
    blocks: dict[int, BasicBlock] = field(default_factory=dict)
    entry: int = 0


@dataclass
class Binary:
    """A compiled program. variables: id -> (type behind the pointer, storage class)."""

    names: dict[int, str] = field(default_factory=dict)
    types: dict[int, Type] = field(default_factory=dict)
    pointers: dict[int, int] = field(default_factory=dict)
    constants: dict[int, tuple[int, object]] = field(default_factory=dict)
    variables: dict[int, tuple[int, int]] = field(default_factory=dict)
    functions: dict[int, Function] = field(default_factory=dict)
    entry: int = 0


def compiled(text: str, stage: str = "frag") -> Binary:
    """Compile a GLSL program without optimisation. stage: frag or vert. Raises NoCompiler."""
    if shutil.which(VALIDATOR) is None:
        raise NoCompiler(f"{VALIDATOR} is not installed (Debian, Ubuntu: glslang-tools)")
    with tempfile.TemporaryDirectory(prefix="raystream-spirv-") as folder:
        file = Path(folder) / f"program.{stage}"
        file.write_text(text, encoding="utf-8")
        binary = file.with_suffix(".spv")
        command = [VALIDATOR, "-G", "--aml", "--amb", "-o", str(binary), str(file)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        except (OSError, subprocess.SubprocessError) as error:
            raise NoCompiler(f"{VALIDATOR}: {error}") from None
        if done.returncode or not binary.is_file():
            lines = [line for line in done.stdout.splitlines() if "ERROR" in line] or [f"exit code {done.returncode}"]
            raise NoCompiler(f"{VALIDATOR}: {lines[0].strip()}")
        return parsed(binary.read_bytes())


def parsed(data: bytes) -> Binary:
    """Parse a SPIR-V module. Raises NoCompiler for other data."""
    words = np.frombuffer(data[: len(data) // 4 * 4], "<u4").tolist()
    if len(words) < 5 or words[0] != MAGIC:
        raise NoCompiler("no SPIR-V")
    binary, at = Binary(), 5
    function: Function | None = None
    block: BasicBlock | None = None
    while at < len(words):
        length, code = words[at] >> 16, words[at] & 0xFFFF
        if not length:
            raise NoCompiler("damaged SPIR-V")
        operands, at = tuple(words[at + 1 : at + length]), at + length
        name = NAMES.get(code, f"Op{code}")
        if function is None or name == "FunctionEnd":
            function = _declare(binary, name, operands) if name != "FunctionEnd" else None
            block = None
        elif name == "FunctionParameter":
            function.parameters.append(operands[1])
        elif name == "Label":
            block = function.blocks[operands[0]] = BasicBlock()
            function.entry = function.entry or operands[0]
        elif block is not None and code not in (8, 317):  # lines of the source
            if name in ("LoopMerge", "SelectionMerge"):
                block.merge, block.again = operands[0], operands[1] if name == "LoopMerge" else 0
            elif name in RESULTLESS:
                block.operations.append(Operation(name, 0, 0, operands))
            else:
                block.operations.append(Operation(name, operands[0], operands[1], operands[2:]))
    return binary


def _declare(binary: Binary, name: str, operands: tuple[int, ...]) -> Function | None:
    """Declare an instruction outside of functions; returns a function that begins here."""
    if name == "Name":
        binary.names[operands[0]] = _text(operands[1:])
    elif name == "EntryPoint":
        binary.entry = operands[1]
    elif name.startswith("Type"):
        _declare_type(binary, name, operands)
    elif name in ("ConstantTrue", "ConstantFalse"):
        binary.constants[operands[1]] = operands[0], name == "ConstantTrue"
    elif name == "Constant":
        binary.constants[operands[1]] = operands[0], _number(binary.types[operands[0]], operands[2])
    elif name in ("ConstantComposite", "ConstantNull"):
        binary.constants[operands[1]] = operands[0], operands[2:] if name == "ConstantComposite" else None
    elif name == "Variable":
        binary.variables[operands[1]] = binary.pointers[operands[0]], operands[2]
    elif name == "Function":
        binary.functions[operands[1]] = Function(binary.names.get(operands[1], "").split("(")[0])
        return binary.functions[operands[1]]
    return None


def _declare_type(binary: Binary, name: str, operands: tuple[int, ...]) -> None:
    type_id, arguments = operands[0], operands[1:]
    kind = name.removeprefix("Type").lower()
    if kind in ("vector", "matrix"):
        binary.types[type_id] = Type(kind, arguments[1], arguments[:1])
    elif kind == "array":
        binary.types[type_id] = Type(kind, int(binary.constants[arguments[1]][1]), arguments[:1])  # type: ignore[call-overload]
    elif kind == "struct":
        binary.types[type_id] = Type(kind, len(arguments), arguments)
    elif kind == "pointer":
        binary.pointers[type_id] = arguments[1]
        binary.types[type_id] = Type(kind)
    elif kind in ("bool", "int", "float", "void"):
        binary.types[type_id] = Type(kind, arguments[0] if arguments else 0)
    else:
        binary.types[type_id] = Type("opaque")


def _number(kind: Type, word: int) -> float | int:
    if kind.kind == "float":
        return float(struct.unpack("<f", struct.pack("<I", word))[0])
    return word - (1 << 32) if word >= 1 << 31 else word


def _text(words: tuple[int, ...]) -> str:
    return b"".join(struct.pack("<I", word) for word in words).split(b"\0")[0].decode()

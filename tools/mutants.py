"""Generated faults: mutation operators applied to lines of ``viewer/`` and ``shaders/``, drawn at random by a seed.

``python tools/mutate.py --draw N --seed S`` puts them in; each is run against the tests nearest to its line, by
tools/nearest.py. Operators (DeMillo, Lipton and Sayward 1978; Offutt et al. 1996, their set, with the field's own):
relations, signs and arithmetic, a factor that is dropped, constants off by one, minimum and maximum, axes, channels,
twins of names (width and height, wrapS and wrapT), negated conditions, and statements that are left out, which are what
a cache or a state forgets. Words of messages, docstrings, types and imports are left alone.
"""

from __future__ import annotations

import ast
import io
import random
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nearest import nearest as nearest_tests

ROOT = Path(__file__).resolve().parents[1]
_PAIRS = (
    ("minimum", "maximum"), ("min", "max"), ("floor", "ceil"), ("any", "all"), ("and", "or"), ("True", "False"),
    ("sin", "cos"), ("width", "height"), ("rows", "columns"), ("first", "last"), ("start", "stop"), ("left", "right"),
    ("near", "far"), ("low", "high"), ("lower", "upper"), ("wrap_s", "wrap_t"), ("edge1", "edge2"), ("before", "after"),
    ("true", "false"), ("wi", "wo"), ("inside", "outside"), ("normal", "geometric_normal"),
)  # fmt: skip
_TWINS = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
_SIGNS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+", "*": "/", "/": "*",
    "//": "/", "&&": "||", "||": "&&", "+=": "-=", "-=": "+=", "*=": "/=", "&": "|", "|": "&",
}  # fmt: skip
KINDS = (".py", ".glsl")
_OPERAND = r"[\w.]+(?:\[[\w., ]*\])?(?:\([\w., ]*\))?"
_GLSL_TOKEN = re.compile(r"[A-Za-z_]\w*|\d+\.?\d*(?:e-?\d+)?|\.\d+|&&|\|\||[<>=!+*/-]=|\+\+|--|[-+*/<>]")
_SWIZZLE = re.compile(r"\.([xyz]{1,4}|[rgb]{1,4})\b")


@dataclass(frozen=True)
class Mutant:
    """A changed line: ``number`` counts from 1."""

    file: str
    number: int
    line: str
    changed: str
    operator: str

    def texts(self, lines: Sequence[str]) -> tuple[str, str]:
        """The old text, of as many lines as occur once in the file, and the new one."""
        text, first, end = "\n".join(lines), self.number - 1, self.number
        while text.count("\n".join(lines[first:end])) > 1:
            first, end = max(first - 1, 0), min(end + 1, len(lines))
        before, after = lines[first : self.number - 1], lines[self.number : end]
        return "\n".join(lines[first:end]), "\n".join([*before, self.changed, *after])


def mutants(file: str, text: str) -> Iterator[Mutant]:
    """All that the operators make of a file's lines."""
    lines = text.split("\n")
    changes = _glsl_changes(lines) if file.endswith(".glsl") else _python_changes(text, lines)
    for number, changed, operator in changes:
        if changed != lines[number - 1]:
            yield Mutant(file, number, lines[number - 1], changed, operator)


def drawn(count: int, seed: int, within: Sequence[str] = ("viewer", "shaders"), nearest: int = 4) -> list[dict]:
    """Entries as tools/mutate.toml has them: first a line of all that have mutants, then one of its mutants.

    Lines are drawn uniformly, so that a file's part is its length, not its number of operators. nearest : how many test
    files are run.
    """
    places = [ROOT / name for name in within]
    files = sorted(path for place in places for path in ([place] if place.is_file() else place.rglob("*")))
    texts = {file.relative_to(ROOT).as_posix(): file.read_text("utf-8") for file in files if file.suffix in KINDS}
    by_line: dict[tuple[str, int], list[Mutant]] = {}
    for file, text in texts.items():
        for mutant in mutants(file, text):
            by_line.setdefault((file, mutant.number), []).append(mutant)
    chance = random.Random(seed)
    entries: list[dict] = []
    lines = sorted(by_line)
    chance.shuffle(lines)
    for line in lines:
        if len(entries) == count:
            break
        mutant = chance.choice(by_line[line])
        old, new = mutant.texts(texts[mutant.file].split("\n"))
        if mutant.file.endswith(".py"):
            try:
                ast.parse(texts[mutant.file].replace(old, new, 1))
            except SyntaxError:
                continue
        nearby = nearest_tests(ROOT / mutant.file, nearest, mutant.number)
        tests = tuple(test.relative_to(ROOT).as_posix() for test in nearby)
        about = f"{mutant.operator}: {mutant.line.strip()} -> {mutant.changed.strip() or 'nothing'}"
        entry = {"name": f"{seed}-{len(entries)}", "file": mutant.file, "old": old, "new": new}
        entries.append({**entry, "tests": tests, "about": about})
    return entries


def _python_changes(text: str, lines: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    tree = ast.parse(text)
    code = _computing_lines(tree)
    for node in ast.walk(tree):  # what a cache, a clock or a state forgets
        if isinstance(node, ast.Expr | ast.Assign | ast.AugAssign) and node.lineno == node.end_lineno:
            call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
            is_binding = isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Attribute | ast.Subscript)
            if node.lineno in code and (call or not isinstance(node, ast.Expr)) and not is_binding:
                line = lines[node.lineno - 1]
                if line.strip() == line[node.col_offset : node.end_col_offset]:
                    yield node.lineno, line[: node.col_offset] + "pass", "left out"
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        (number, begin), end, word = token.start, token.end[1], token.string
        if number not in code or token.start[0] != token.end[0]:
            continue
        line = lines[number - 1]
        if token.type == tokenize.OP and word in _SIGNS and before.string not in ("(", ",", "[", "=", "return"):
            if word in "*/" or after.string != "=":
                yield number, line[:begin] + _SIGNS[word] + line[end:], "relation or arithmetic"
        elif token.type == tokenize.OP and word == "-":
            yield number, line[:begin] + line[end:], "sign"
        elif token.type == tokenize.NAME and word == "not" and after.string != "in" and before.string != "is":
            yield number, line[:begin] + line[end + 1 :], "negation"
        elif token.type == tokenize.NAME and word in _TWINS and after.string != "=":
            yield number, line[:begin] + _TWINS[word] + line[end:], "twin"
        elif token.type == tokenize.NUMBER and word.isdigit():
            channel = before.string in ("[", ",", ":") or (before.string == "=" and "axis" in line[:begin])
            other = {"0": "1", "1": "0", "2": "1"}.get(word, str(int(word) + 1)) if channel else str(int(word) + 1)
            yield number, line[:begin] + other + line[end:], "axis or channel" if channel else "off by one"
    for number in code:
        yield from _dropped_factors(number, lines[number - 1])


def _computing_lines(tree: ast.Module) -> set[int]:
    """Lines of functions that compute: no messages, types, imports, decorators, defaults, or checks that raise."""
    code: set[int] = set()
    silent: set[int] = set()

    def add(lines: set[int], node: ast.AST) -> None:
        lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))  # type: ignore[attr-defined]

    messages = ast.Raise, ast.Assert, ast.Import, ast.ImportFrom, ast.JoinedStr
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in node.body:
                add(code, statement)
        words = isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
        if words or isinstance(node, messages) or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)):
            add(silent, node)
        elif isinstance(node, ast.AnnAssign):
            add(silent, node.annotation)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            silent.update(range(node.lineno, node.body[0].lineno))
    return code - silent


def _dropped_factors(number: int, line: str) -> Iterator[tuple[int, str, str]]:
    after, before = rf" \* {_OPERAND}(?![\w.(\[*])", rf"(?<![\w.)\]]){_OPERAND} \* "
    for factor in (*re.finditer(after, line), *re.finditer(before, line)):
        yield number, line[: factor.start()] + line[factor.end() :], "dropped factor"


def _glsl_changes(lines: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    comment = False
    for number, line in enumerate(lines, 1):
        comment = comment or "/*" in line
        code = "" if comment else line.split("//")[0]
        comment = comment and "*/" not in line
        if not code.startswith((" ", "\t")) or code.lstrip().startswith(("#", "const ", "uniform ", "in ", "out ")):
            continue  # declarations; computing lines are indented
        tail = line[len(code) :]
        for token in _GLSL_TOKEN.finditer(code):
            word, head, remainder = token[0], code[: token.start()], code[token.end() :] + tail
            if word in _SIGNS:
                unary = word == "-" and not re.search(r"(?<!\breturn)(?<=[\w)\]]) *$", head.rstrip())
                yield number, head + ("" if unary else _SIGNS[word]) + remainder, "sign" if unary else "arithmetic"
            elif word in _TWINS and not head.endswith("."):
                yield number, head + _TWINS[word] + remainder, "twin"
            elif word.isdigit() and not re.search(r"[\w.]$", head):
                yield number, head + str(int(word) + 1) + remainder, "off by one"
            elif re.fullmatch(r"\d+\.\d*", word) and head.strip() and "e" not in word:
                other = {"0.0": "1.0", "1.0": "0.0"}.get(word, f"{2.0 * float(word)}")
                yield number, head + other + remainder, "constant"
        for swizzle in _SWIZZLE.finditer(code):
            names, letters = ("xyz", swizzle[1]) if swizzle[1][0] in "xyz" else ("rgb", swizzle[1])
            swapped = letters.translate(str.maketrans(names, names[1] + names[0] + names[0]))
            if len(set(letters)) > 1:
                swapped = letters[1] + letters[0] + letters[2:]
            yield number, f"{code[: swizzle.start()]}.{swapped}{code[swizzle.end() :]}{tail}", "axis or channel"
        for factor in _dropped_factors(number, code):
            yield number, factor[1] + tail, factor[2]
        if re.fullmatch(r"\s+[\w.\[\]]+ [-+*/]?= [^;{}]*;\s*", code) or re.fullmatch(r"\s+\w+\([^;{}]*\);\s*", code):
            yield number, code[: len(code) - len(code.lstrip())] + ";" + tail, "left out"

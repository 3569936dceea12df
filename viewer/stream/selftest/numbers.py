"""Self-tests of arithmetic in fragment programs, held to NumPy: units in the last place of division, roots and sines,
denormal numbers, infinities, compensated sums, integers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from raystream.stream.gl.device import EXACT, Device
from raystream.stream.selftest.check import ABSENT, DIFFERS, FAIL, PASS, Check, Finding, computed, exact

SIZE = (128, 96)
CORRECTLY_ROUNDED_ULP = 0.5 + 1e-6  # units in the last place of a right rounding

Floats = NDArray[np.float32]
Exact = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]


@dataclass(frozen=True)
class FloatFunction:
    """A function of two floats, a and b.

    glsl : the expression. exact : in float64. low, high : range of a and b; ``logarithmic``: over all magnitudes.
    limit : of the error, in units in the last place, or ``absolute``: beyond it the check fails. GLSL 4.60, 4.7.1; that
    of sines, which it leaves open, is Vulkan's.
    """

    glsl: str
    exact: Exact
    low: float
    high: float
    limit: float
    logarithmic: bool = False
    absolute: bool = False


FUNCTIONS = {
    "addition": FloatFunction("a + b", lambda a, b: a + b, 1e-6, 1e6, 0.51, True),
    "multiplication": FloatFunction("a * b", lambda a, b: a * b, 1e-6, 1e6, 0.51, True),
    "division": FloatFunction("a / b", lambda a, b: a / b, 1e-6, 1e6, 2.5, True),
    "square root": FloatFunction("sqrt(a)", lambda a, b: np.sqrt(a), 1e-12, 1e12, 5.0, True),
    "inverse square root": FloatFunction("inversesqrt(a)", lambda a, b: 1 / np.sqrt(a), 1e-12, 1e12, 2.5, True),
    "sine": FloatFunction("sin(a)", lambda a, b: np.sin(a), -np.pi, np.pi, 2.0**-11, absolute=True),
    "cosine": FloatFunction("cos(a)", lambda a, b: np.cos(a), -np.pi, np.pi, 2.0**-11, absolute=True),
    "exponential": FloatFunction("exp(a)", lambda a, b: np.exp(a), -20.0, 20.0, 3.0 + 2.0 * 20.0),
    "logarithm": FloatFunction("log2(a)", lambda a, b: np.log2(a), 2.0, 1e6, 3.0, True),
    "power": FloatFunction("pow(a, b)", lambda a, b: a**b, 0.01, 8.0, 64.0),
    "arc tangent": FloatFunction("atan(a, b)", lambda a, b: np.arctan2(a, b), -4.0, 4.0, 4096.0),
}


def _operands(function: FloatFunction) -> tuple[Floats, Floats]:
    """Random a and b within the function's range, (H, W, 4) float32 each."""
    rng, shape = np.random.default_rng(17), (SIZE[1], SIZE[0], 4)
    if function.logarithmic:
        low, high = np.log(function.low), np.log(function.high)
        a, b = np.exp(rng.uniform(low, high, shape)), np.exp(rng.uniform(low, high, shape))
    else:
        a, b = rng.uniform(function.low, function.high, shape), rng.uniform(function.low, function.high, shape)
    return a.astype(np.float32), b.astype(np.float32)


def _accuracy_check(function: FloatFunction) -> Callable[[Device], Finding]:
    """The check of a function's errors on random operands."""

    def run(device: Device) -> Finding:
        a, b = _operands(function)
        lanes = ", ".join(f"f(a.{c}, b.{c})" for c in "xyzw")
        body = f"""float f(float a, float b) {{ return {function.glsl}; }}
void main() {{
    vec4 a = value_0(ivec2(gl_FragCoord.xy)), b = value_1(ivec2(gl_FragCoord.xy));
    out_0 = vec4({lanes});
}}"""
        results = computed(device, body, [a, b])[:, :, 0].astype(np.float64)
        exact_results = function.exact(a.astype(np.float64), b.astype(np.float64))
        error = np.abs(results - exact_results)
        units = error / np.spacing(np.abs(exact_results).astype(np.float32)).astype(np.float64)
        largest, most = float(error.max()), float(units.max())
        figures = {"ulp": most, "mean_ulp": float(units.mean()), "largest": largest}
        if not np.isfinite(results).all():
            return Finding(FAIL, f"{int((~np.isfinite(results)).sum())} results are not finite", {})
        how = f"by up to {largest:.2g}" if function.absolute else f"by up to {most:.3g} ulp"
        if (largest if function.absolute else most) > function.limit:
            return Finding(FAIL, how, figures)
        return Finding(
            PASS if most <= CORRECTLY_ROUNDED_ULP else DIFFERS, "" if most <= CORRECTLY_ROUNDED_ULP else how, figures
        )

    return run


def denormals(device: Device) -> Finding:
    """Numbers below 2^-126: whether arithmetic takes them and makes them. OpenGL lets drivers flush them to zero."""
    values = np.ldexp(np.linspace(0.01, 0.99, SIZE[0] * SIZE[1] * 4), -126).astype(np.float32)
    tiny = values.reshape(SIZE[1], SIZE[0], 4)
    body = """void main() {
    vec4 v = value_0(ivec2(gl_FragCoord.xy));
    out_0 = v * 16777216.0;
    out_1 = (v * 16777216.0) * 5.9604644775390625e-8;
}"""
    results = computed(device, body, [tiny], 2)
    operands, products = ((results[:, :, 0] == tiny * np.float32(2.0**24)).mean(), (results[:, :, 1] == tiny).mean())
    if operands == 1.0 and products == 1.0:
        return Finding(PASS, "", {"taken": 1.0, "made": 1.0})
    flushed = [what for what, fraction in (("taken as zero", operands), ("made zero", products)) if fraction < 1.0]
    return Finding(DIFFERS, f"flushed: {' and '.join(flushed)}", {"taken": float(operands), "made": float(products)})


SPECIAL = {  # by name: an expression of one (1.0), nil (0.0) and huge (3e38), and whether it is true
    "1 / 0 is infinite": "isinf(one / nil)",
    "overflow is infinite": "isinf(huge * huge)",
    "0 / 0 is no number": "isnan(nil / nil)",
    "inf - inf is no number": "isnan(one / nil - huge * huge)",
    "no number is below another": "!(nil / nil < one) && !(nil / nil >= one)",
    "-0 equals 0": "-nil == nil",
    "1 / -0 is -inf": "one / -nil < -huge",
    "1 / inf is 0": "one / (one / nil) == nil",
    "the smaller of 1 and inf": "min(one / nil, one) == one",
}


def special_values(device: Device) -> Finding:
    """Infinities and no numbers, which GLSL 3.30 does not ask for; boxes are tested by them."""
    lines = "\n".join(f"    if (!({test})) wrong += {1 << k}.0;" for k, test in enumerate(SPECIAL.values()))
    body = f"""uniform float one, nil, huge;
void main() {{
    float wrong = 0.0 * value_0(ivec2(0)).x;
{lines}
    out_0 = vec4(wrong);
}}"""
    blank = np.zeros((4, 4, 4), np.float32)
    bits = int(computed(device, body, [blank], one=1.0, nil=0.0, huge=3e38)[0, 0, 0, 0])
    wrong = [name for k, name in enumerate(SPECIAL) if bits >> k & 1]
    return Finding(DIFFERS if wrong else PASS, f"not so: {', '.join(wrong)}" if wrong else "")


SUM_TERMS = 64  # of a compensated sum


def compensated_sums(precise: bool) -> Callable[[Device], Finding]:
    """The check of sums with their rounding error, as films keep them, by a function that a function calls, as in
    programs: a compiler that takes floats for real numbers makes the error zero. precise : by ``precise`` variables,
    else by products with a uniform of 1 (``shaders/lib/exact.glsl``)."""

    def run(device: Device) -> Finding:
        if precise and not device.has_precise:
            return Finding(ABSENT)
        twin = replace(device)  # the same context
        twin.precise = precise
        rng, shape = np.random.default_rng(23), (SIZE[1], SIZE[0], 4)
        first = rng.uniform(0.0, 4096.0, shape).astype(np.float32)
        term = rng.uniform(0.0, 1.0, shape).astype(np.float32)
        body = f"""void add_terms(inout vec3 sum, inout vec3 compensation, vec3 term) {{
    for (int k = 0; k < {SUM_TERMS}; ++k) add_compensated(sum, compensation, term);
}}
void main() {{
    vec3 sum = value_0(ivec2(gl_FragCoord.xy)).xyz, compensation = vec3(0.0);
    add_terms(sum, compensation, value_1(ivec2(gl_FragCoord.xy)).xyz);
    out_0 = vec4(sum, 0.0);
    out_1 = vec4(compensation, 0.0);
}}"""
        results = computed(twin, body, [first, term], 2, EXACT)[..., :3].astype(np.float64)
        total = first[..., :3].astype(np.float64) + SUM_TERMS * term[..., :3].astype(np.float64)
        # The first of both floats is the rounded sum; each addition to both rounds at 2^-48 of it.
        wrong = np.abs(results[:, :, 0] - total) > 0.50001 * np.spacing(total.astype(np.float32))
        wrong |= np.abs(results.sum(axis=2) - total) > SUM_TERMS * 2.0**-48 * total
        return exact(int(wrong.sum()), wrong.size, "sums")

    return run


def multiply_add(device: Device) -> Finding:
    """Whether a product and a sum are rounded twice, as written, or once: either is allowed."""
    rng, shape = np.random.default_rng(29), (SIZE[1], SIZE[0], 4)
    a, b, c = (rng.uniform(-1.0, 1.0, shape).astype(np.float32) for _ in range(3))
    body = """void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    out_0 = value_0(at) * value_1(at) + value_2(at);
}"""
    results = computed(device, body, [a, b, c])[:, :, 0]
    once = (a.astype(np.float64) * b + c).astype(np.float32)
    twice = a * b + c
    fractions = {"twice": float((results == twice).mean()), "once": float((results == once).mean())}
    if fractions["twice"] == 1.0:
        return Finding(PASS, "rounded twice", fractions)
    if fractions["once"] == 1.0:
        return Finding(DIFFERS, "rounded once", fractions)
    return Finding(
        DIFFERS, f"{fractions['twice']:.1%} as if rounded twice, {fractions['once']:.1%} as if once", fractions
    )


def integers(device: Device) -> Finding:
    """Integers of 32 bits, as hashes and samplers take them: products that wrap, shifts, divisions, and floats of the
    same bits."""
    body = """uint hash(uint x) {
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    uint h = hash(uint(at.y * 65536 + at.x));
    int s = int(h);
    out_0 = vec4(float(h >> 16), float(h & 65535u), float(s / 65536), float((s >> 7) & 65535));
    out_1 = vec4(float(h / 977u & 65535u), float((h << 5) >> 16), uintBitsToFloat(0x3f800000u | (h >> 9)), 0.0);
}"""
    x, y = np.meshgrid(np.arange(SIZE[0], dtype=np.uint32), np.arange(SIZE[1], dtype=np.uint32))
    h = y * np.uint32(65536) + x
    h = (h ^ h >> np.uint32(16)) * np.uint32(0x7FEB352D)
    h = (h ^ h >> np.uint32(15)) * np.uint32(0x846CA68B)
    h = h ^ h >> np.uint32(16)
    s = h.view(np.int32).astype(np.int64)
    lanes = [h >> 16, h & 65535, np.trunc(s / 65536), (s >> 7) & 65535]
    lanes += [h // 977 & 65535, (h << np.uint32(5)) >> 16, (np.uint32(0x3F800000) | (h >> 9)).view(np.float32)]
    results = computed(device, body, [np.zeros((SIZE[1], SIZE[0], 4), np.float32)], 2).reshape(SIZE[1], SIZE[0], 8)
    wrong = np.stack([results[..., k] != lane.astype(np.float32) for k, lane in enumerate(lanes)])
    return exact(int(wrong.sum()), wrong.size, "numbers")


CHECKS = (
    *(Check(name, _accuracy_check(function)) for name, function in FUNCTIONS.items()),
    Check("multiply and add", multiply_add),
    Check("sums by precise", compensated_sums(True), decides=True),
    Check("sums by products", compensated_sums(False), decides=True),
    Check("denormals", denormals),
    Check("special values", special_values),
    Check("integers", integers),
)

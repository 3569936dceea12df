"""A ray tracer as a stream program: T. J. Purcell, "Ray Tracing on a Stream Processor" (2004), chapters 3 to 5.

    python one_file.py bunny.ply picture.png

The scene lies in float textures: a uniform grid, lists of triangles, vertices. A ray is a texel of the stream, in one
of four states; a kernel is a fragment program that takes the rays of its state one step further. The depth buffer masks
them: a ray's depth is its state, a kernel is drawn at the depth of its own, and the depth test "equal" lets early-z run
it for those alone. Occlusion queries count the rays of each state; the kernel of the most is next, until all are done.
"""

import sys
from pathlib import Path
from struct import pack
from zlib import compress, crc32

import moderngl
import numpy as np

RAY = """#version 330
struct Ray {
    vec3 origin; float state;
    vec3 direction; float hit;   // distance of the nearest hit so far
    vec3 cell; float list;       // of the grid; place in the lists of triangles
    vec3 leave; float triangle;  // distances of the cell's far planes; the triangle hit, -1: none
    vec3 colour; float shadow; };  // 1: on the way to the light
uniform sampler2D in_0, in_1, in_2, in_3, in_4, cells, lists, vertices;
uniform vec3 low, size, light; uniform int count; uniform bool shadows;  // grid: corner, a cell's edges, cells an axis
layout(location = 0) out vec4 stored[5];
const float FAR = 1e30, TRAVERSE = 1.0, INTERSECT = 2.0, SHADE = 3.0, DONE = 4.0;
vec4 element(sampler2D memory, int place) {  // a texture is memory, an address its texel
    return texelFetch(memory, ivec2(place % 2048, place / 2048), 0); }
vec3 vertex(float triangle, int corner) { return element(vertices, 3 * int(triangle) + corner).xyz; }
Ray load() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    vec4 a = texelFetch(in_0, at, 0), b = texelFetch(in_1, at, 0), c = texelFetch(in_2, at, 0);
    vec4 d = texelFetch(in_3, at, 0), e = texelFetch(in_4, at, 0);
    return Ray(a.xyz, a.w, b.xyz, b.w, c.xyz, c.w, d.xyz, d.w, e.xyz, e.w); }
void store(Ray r) {
    stored = vec4[](vec4(r.origin, r.state), vec4(r.direction, r.hit), vec4(r.cell, r.list), vec4(r.leave, r.triangle),
                    vec4(r.colour, r.shadow)); }
void visit(inout Ray r) {  // a cell: its triangles are next, or, where it has none, the cell behind it
    r.list = element(cells, int(r.cell.x) + count * (int(r.cell.y) + count * int(r.cell.z))).x;
    r.state = r.list < 0.0 ? TRAVERSE : INTERSECT; }
void enter(inout Ray r) {  // the grid, where the ray meets its box
    vec3 inverse = 1.0 / mix(r.direction, vec3(1e-20), equal(r.direction, vec3(0.0)));
    vec3 one = (low - r.origin) * inverse, other = (low + float(count) * size - r.origin) * inverse;
    vec3 near = min(one, other), far = max(one, other);
    float begin = max(max(near.x, near.y), max(near.z, 0.0)), end = min(far.x, min(far.y, far.z));
    r.hit = FAR; r.triangle = -1.0; r.state = SHADE; if (begin > end) return;
    r.cell = clamp(floor((r.origin + begin * r.direction - low) / size), 0.0, float(count - 1));
    r.leave = (low + (r.cell + step(0.0, inverse)) * size - r.origin) * inverse;
    visit(r); }
"""
CAMERA = """
uniform vec3 eye, right, up, forward;  // right and up: half of the picture's edges, at a distance of 1
uniform vec2 pixels;
void main() {
    vec2 at = gl_FragCoord.xy / pixels * 2.0 - 1.0;
    vec3 direction = normalize(forward + at.x * right + at.y * up), none = vec3(0.0);
    Ray r = Ray(eye, TRAVERSE, direction, FAR, none, -1.0, none, -1.0, none, 0.0);
    enter(r); store(r); }"""
TRAVERSE = """
void main() {  // to the next cell, through the nearest of three planes (Amanatides and Woo 1987)
    Ray r = load();
    int axis = r.leave.x <= min(r.leave.y, r.leave.z) ? 0 : r.leave.y <= r.leave.z ? 1 : 2;
    float side = r.direction[axis] >= 0.0 ? 1.0 : -1.0, cell = r.cell[axis] + side;
    r.cell[axis] = cell;
    r.leave[axis] = (low[axis] + (cell + max(side, 0.0)) * size[axis] - r.origin[axis]) / r.direction[axis];
    if (cell < 0.0 || cell >= float(count)) r.state = SHADE; else visit(r);
    store(r); }"""
INTERSECT = """
void main() {  // with one triangle of the cell's list (Moeller and Trumbore 1997)
    Ray r = load();
    float triangle = element(lists, int(r.list)).x;
    vec3 a = vertex(triangle, 0), ab = vertex(triangle, 1) - a, ac = vertex(triangle, 2) - a;
    vec3 p = cross(r.direction, ac), from = r.origin - a, q = cross(from, ab);
    float scale = 1.0 / dot(ab, p), u = dot(from, p) * scale, v = dot(r.direction, q) * scale, t = dot(ac, q) * scale;
    if (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t > 0.0 && t < r.hit) { r.hit = t; r.triangle = triangle; }
    r.list += 1.0;
    if (element(lists, int(r.list)).x < 0.0)  // the list ends; a hit beyond the cell is not yet the nearest
        r.state = r.hit <= min(r.leave.x, min(r.leave.y, r.leave.z)) ? SHADE : TRAVERSE;
    store(r); }"""
SHADE = """
void main() {
    Ray r = load(); r.state = DONE;
    if (r.shadow > 0.0) r.colour *= r.hit < 1.0 ? 0.25 : 1.0;  // the light is at a distance of 1
    else if (r.triangle < 0.0) r.colour = vec3(0.55, 0.65, 0.75);
    else {
        vec3 a = vertex(r.triangle, 0), point = r.origin + r.hit * r.direction, path = light - point;
        vec3 normal = normalize(cross(vertex(r.triangle, 1) - a, vertex(r.triangle, 2) - a));
        if (dot(normal, r.direction) > 0.0) normal = -normal;
        r.colour = vec3(0.9, 0.8, 0.65) * max(dot(normal, normalize(path)), 0.06);
        if (shadows) {  // the same ray once more, from the point that was hit
            r.origin = point + 1e-4 * length(path) * normal; r.direction = light - r.origin; r.shadow = 1.0;
            enter(r); } }
    store(r); }"""
KERNELS = {1: TRAVERSE, 2: INTERSECT, 3: SHADE}  # by state
KEEP = "void main() { store(load()); }"  # what a kernel has written, back into the stream
MASK = "void main() { gl_FragDepth = load().state / 256.0; }"  # a ray's depth is its state
SCREEN = "#version 330\nin vec2 at; uniform float depth; void main() { gl_Position = vec4(at, 2.0 * depth - 1.0, 1); }"


def grid(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
    """Cells (place in the lists, -1: empty), lists (each ends with -1), the low corner, a cell's edges, and cells along
    an axis, of triangles (N, 3, 3). A triangle is in every cell that its box overlaps."""
    low, high = corners.min((0, 1)), corners.max((0, 1))
    border = 1e-3 * (high - low).max()
    count = int(np.clip(round((3 * len(corners)) ** (1 / 3)), 1, 128))
    low, size = low - border, (high - low + 2 * border) / count
    first = np.floor((corners.min(1) - low) / size - 1e-4).astype(int).clip(0, count - 1)
    spans = np.floor((corners.max(1) - low) / size + 1e-4).astype(int).clip(0, count - 1) - first + 1
    triangle = np.repeat(np.arange(len(corners)), spans.prod(1))
    number = np.arange(len(triangle)) - np.repeat(spans.prod(1).cumsum() - spans.prod(1), spans.prod(1))
    wide, tall, _ = spans[triangle].T
    x, y, z = (first[triangle] + np.stack([number % wide, number // wide % tall, number // (wide * tall)], 1)).T
    cell = x + count * (y + count * z)
    order = np.argsort(cell, kind="stable")
    used, starts, lengths = np.unique(cell[order], return_index=True, return_counts=True)
    cells = np.full(count**3, -1.0)
    cells[used] = starts + np.arange(len(used))  # an end mark behind each list
    return cells, np.insert(triangle[order].astype(float), starts + lengths, -1.0), low, size, count


def trace(corners: np.ndarray, camera: dict, light: np.ndarray, size: tuple[int, int], shadows: bool = True) -> dict:
    """Colour (H, W, 3) of a picture of triangles (N, 3, 3), row 0 the lowest; and, without shadows, triangle (-1: none)
    and distance (H, W) of each hit. passes : the rays and the state of every kernel's pass."""
    context = moderngl.create_standalone_context(require=330, **({"backend": "egl"} if sys.platform == "linux" else {}))

    def memory(values: np.ndarray) -> moderngl.Texture:
        texels = np.zeros((-(-len(values) // 2048), 2048, 4), np.float32)
        texels.reshape(-1, 4)[: len(values), : values.shape[1]] = values
        return context.texture((2048, len(texels)), 4, texels, dtype="f4")

    cells, lists, low, cell, count = grid(corners)
    memories = [memory(values) for values in (cells[:, None], lists[:, None], corners.reshape(-1, 3))]
    streams = [[context.texture(size, 4, dtype="f4") for _ in range(5)] for _ in range(2)]
    depth = context.depth_renderbuffer(size)  # one mask for all targets
    rays, written, masked = [context.framebuffer(stream, depth) for stream in (*streams, [])]
    triangle = context.buffer(np.array([-1, -1, 3, -1, -1, 3], np.float32))  # covers the screen
    values = {"low": low, "size": cell, "light": light, "count": count, "pixels": size, "shadows": shadows, **camera}
    values |= dict(zip(("cells", "lists", "vertices", *(f"in_{k}" for k in range(5))), range(8), strict=True))

    def kernel(source: str) -> moderngl.VertexArray:
        program = context.program(vertex_shader=SCREEN, fragment_shader=RAY + source)
        for name in values.keys() & set(program):
            program[name] = values[name]
        return context.vertex_array(program, triangle, "at")

    def run(kernel: moderngl.VertexArray, target: moderngl.Framebuffer, state: int = 0) -> int:
        """A pass into a target, over the rays in a state or over all; how many these are."""
        for unit, texture in enumerate(memories + streams[target is rays]):
            texture.use(unit)
        target.use()
        target.depth_mask, context.depth_func = not state, "==" if state else "1"
        kernel.program["depth"] = state / 256
        with query:
            kernel.render()
        return query.samples

    context.enable(moderngl.DEPTH_TEST)
    query, keep, mask = context.query(samples=True), kernel(KEEP), kernel(MASK)
    kernels = {state: kernel(source) for state, source in KERNELS.items()}
    run(kernel(CAMERA), rays)
    passes = [(1, 0)]
    while passes[-1][0]:  # the last kernel had rays
        run(mask, masked)
        passes.append(max((run(keep, masked, state), state) for state in kernels))
        run(kernels[passes[-1][1]], written, passes[-1][1])
        run(keep, rays, passes[-1][1])
    _, ray, _, hit, colour = [np.frombuffer(each.read(), np.float32).reshape(*size[::-1], 4) for each in streams[0]]
    context.release()
    return {"colour": colour[..., :3], "distance": ray[..., 3], "triangle": hit[..., 3], "passes": passes[1:-1]}


def main(model: str, output: str = "one_file.png", side: int = 384) -> None:
    """A binary little-endian PLY of triangles, its vertices x, y, z alone, on a floor, to a PNG."""
    data = Path(model).read_bytes()
    start = data.index(b"end_header\n") + 11
    points, faces = (int(data[:start].split(word)[1].split()[0]) for word in (b"element vertex", b"element face"))
    positions = np.frombuffer(data, "<f4", 3 * points, start).reshape(-1, 3)
    polygons = np.frombuffer(data[start + 12 * points :].ljust(13 * faces), "u1, 3<i4", faces)
    if b"binary_little_endian" not in data[:start] or (polygons["f0"] != 3).any():
        sys.exit(f"{model}: not a binary little-endian PLY of triangles whose vertices are x, y, z alone")
    corners = positions[polygons["f1"]]
    low, high = corners.min((0, 1)), corners.max((0, 1))
    middle, reach = (low + high) / 2, np.linalg.norm(high - low)
    floor = np.array([[-1, 0, -1], [-1, 0, 1], [1, 0, 1], [1, 0, -1]]) * reach + middle * (1, 0, 1) + low * (0, 1, 0)
    corners = np.concatenate([corners, floor[[[0, 1, 2], [0, 2, 3]]]])
    eye = middle + reach * np.array([0.3, 0.5, 1.1])
    camera = {"eye": eye, "forward": [-0.24, -0.4, -0.88], "right": [0.482, 0.0, -0.132], "up": [-0.053, 0.456, -0.193]}
    picture = trace(corners, camera, middle + reach * np.array([-1.0, 2.0, 1.0]), (side, side))
    rows = (255 * picture["colour"][::-1].clip(0, 1) ** (1 / 2.2)).astype(np.uint8).reshape(side, -1)
    head, texels = b"IHDR" + pack(">2I5B", side, side, 8, 2, 0, 0, 0), b"IDAT" + compress(np.insert(rows, 0, 0, 1))
    chunks = [pack(">I", len(part) - 4) + part + pack(">I", crc32(part)) for part in (head, texels, b"IEND")]
    Path(output).write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))
    print(f"{output}: {len(corners):,} triangles, {len(picture['passes']):,} kernel passes")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""The thesis's kernels as compiled loops in float32: intersection by escape indices, shading, and the whole tracer of a
picture, depth first, as recursion goes through the tree of rays (T 6.3; viewer/shaders' bsdf_classic.glsl).

Columns of a ray: origin, direction, weight, channel (-1: all) and level.
"""

from __future__ import annotations

import math

import numpy as np

from raystream.base import jit
from reproduction.simulators.rays import OFFSET as RAY_OFFSET
from reproduction.simulators.walk import distance

COLUMNS, WEIGHT, CHANNEL, LEVEL = 12, 6, 9, 10
MOST_CHILDREN = 4  # of a surface: a reflected ray, and a refracted one for each channel
ZERO, ONE, TWO = np.float32(0.0), np.float32(1.0), np.float32(2.0)
TINY, LEAST, FAR = np.float32(1e-30), np.float32(1e-3), np.float32(3.4e38)
WIDER = np.float32(1.0000006)  # shaders/lib/box.glsl
OFFSET = np.float32(RAY_OFFSET)


@jit.helper
def inverted(direction):
    """1 / direction, without infinities."""
    return ONE / (TINY if abs(direction) < TINY else direction)


@jit.helper
def enters(boxes, node, ox, oy, oz, ix, iy, iz, nearest):
    """Whether a ray meets a box before its nearest hit."""
    ax, bx = (boxes[node, 0] - ox) * ix, (boxes[node, 3] - ox) * ix
    ay, by = (boxes[node, 1] - oy) * iy, (boxes[node, 4] - oy) * iy
    az, bz = (boxes[node, 2] - oz) * iz, (boxes[node, 5] - oz) * iz
    near = max(max(min(ax, bx), min(ay, by)), max(min(az, bz), ZERO))
    far = min(min(max(ax, bx), max(ay, by)), min(max(az, bz), nearest))
    return near <= far * WIDER


@jit.helper
def nearest_hit(structure, rays, ray):
    """The distance and the face that a ray hits, -1 for none. structure : `Model.structure`."""
    top_boxes, top_links, boxes, links, instances, roots, corners, numbers = structure
    ox, oy, oz = rays[ray, 0], rays[ray, 1], rays[ray, 2]
    dx, dy, dz = rays[ray, 3], rays[ray, 4], rays[ray, 5]
    ix, iy, iz = inverted(dx), inverted(dy), inverted(dz)
    nearest, face, above = FAR, -1, 0
    while above < len(top_links):
        instance = top_links[above, 1]
        if not enters(top_boxes, above, ox, oy, oz, ix, iy, iz, nearest):
            above = top_links[above, 0]
            continue
        above += 1  # a leaf's neighbour, too
        if instance < 0:
            continue
        x, y, z = ox - instances[instance, 3], oy - instances[instance, 7], oz - instances[instance, 11]
        px = instances[instance, 0] * x + instances[instance, 1] * y + instances[instance, 2] * z
        py = instances[instance, 4] * x + instances[instance, 5] * y + instances[instance, 6] * z
        pz = instances[instance, 8] * x + instances[instance, 9] * y + instances[instance, 10] * z
        ux = instances[instance, 0] * dx + instances[instance, 1] * dy + instances[instance, 2] * dz
        uy = instances[instance, 4] * dx + instances[instance, 5] * dy + instances[instance, 6] * dz
        uz = instances[instance, 8] * dx + instances[instance, 9] * dy + instances[instance, 10] * dz
        jx, jy, jz = inverted(ux), inverted(uy), inverted(uz)
        node = roots[instance, 0]
        while node < len(links):
            if not enters(boxes, node, px, py, pz, jx, jy, jz, nearest):
                node = links[node, 0]
                continue
            first, count = links[node, 1], links[node, 2]
            node = links[node, 0] if count > 0 else node + 1
            for at in range(first, first + count):
                t = distance(corners, at, px, py, pz, ux, uy, uz)
                own = roots[instance, 1] + numbers[at]
                if t > ZERO and (t < nearest or (t == nearest and own < face)):
                    nearest, face = t, own
    return nearest, face


@jit.helper
def wrapped(place, size, clamped):
    """A texel's column or row within the image."""
    return min(max(place, 0), size - 1) if clamped else place % size


@jit.helper
def texel(kinds, texels, layer, x, y, band):
    """A band of the bilinear mean around a place in texels."""
    width, height = kinds[layer, 2], kinds[layer, 3]
    left, top = math.floor(np.float64(x)), math.floor(np.float64(y))
    across, down = x - np.float32(left), y - np.float32(top)
    here, next_ = wrapped(left, width, kinds[layer, 4] > 0), wrapped(left + 1, width, kinds[layer, 4] > 0)
    row, below_it = wrapped(top, height, kinds[layer, 5] > 0), wrapped(top + 1, height, kinds[layer, 5] > 0)
    first = kinds[layer, 1]
    above = (
        texels[first + row * width + here, band] * (ONE - across) + texels[first + row * width + next_, band] * across
    )
    below = (
        texels[first + below_it * width + here, band] * (ONE - across)
        + texels[first + below_it * width + next_, band] * across
    )
    return above * (ONE - down) + below * down


@jit.helper
def color_of(materials, applied, layers, kinds, texels, material, band, colored, u, v):
    """A band of C: the diffuse colour or the vertices', and what the textures in turn make of it (table 1)."""
    color = colored if materials[material, 7] > ZERO else materials[material, 8 + band]
    for layer in range(applied[material, 0], applied[material, 0] + applied[material, 1]):
        x = layers[layer, 4] * u + layers[layer, 5] * v + layers[layer, 6]
        y = layers[layer, 7] * u + layers[layer, 8] * v + layers[layer, 9]
        x = x * np.float32(kinds[layer, 2]) - np.float32(0.5)
        y = y * np.float32(kinds[layer, 3]) - np.float32(0.5)
        c = texel(kinds, texels, layer, x, y, band)
        mode = kinds[layer, 0]
        if mode == 0:
            color = c
        elif mode == 1:
            alpha = texel(kinds, texels, layer, x, y, 3)
            color = color * (ONE - alpha) + c * alpha
        elif mode == 2:
            color = color * c
        else:
            color = color * (ONE - c) + layers[layer, band] * c
    return color


@jit.helper
def fresnel(materials, material, cosine, ratio):
    """The share that is reflected; 1 beyond the critical angle."""
    if ratio * ratio * (ONE - cosine * cosine) > ONE:
        return ONE
    base = np.float64(max(ONE - cosine, TINY))
    power = np.float32(base ** np.float64(materials[material, 2]))
    return min(max(materials[material, 0] + materials[material, 1] * power, ZERO), ONE)


@jit.helper
def leave(children, child, px, py, pz, fx, fy, fz, dx, dy, dz, channel, level):
    """Write a ray off its surface, on the side into which it goes; its weight is the caller's."""
    side = ONE if fx * dx + fy * dy + fz * dz >= ZERO else -ONE
    away = side * OFFSET * max(max(abs(px), abs(py)), max(abs(pz), np.float32(1e-6)))
    length = np.float32(math.sqrt(dx * dx + dy * dy + dz * dz))
    children[child, 0], children[child, 1], children[child, 2] = px + away * fx, py + away * fy, pz + away * fz
    children[child, 3], children[child, 4], children[child, 5] = dx / length, dy / length, dz / length
    children[child, CHANNEL], children[child, LEVEL] = channel, level


@jit.helper
def shade(surface, rays, ray, t, face, children, first, light, to):
    """What a hit shines, added to a row of ``light`` (N, 3); its rays into rows of ``children`` from ``first`` on,
    which may be the ray's own. Returns their number. surface : `Model.surface`."""
    faces, vertices, materials, applied, layers, kinds, texels = surface
    dx, dy, dz = rays[ray, 3], rays[ray, 4], rays[ray, 5]
    wx, wy, wz = rays[ray, WEIGHT], rays[ray, WEIGHT + 1], rays[ray, WEIGHT + 2]
    channel, level = int(rays[ray, CHANNEL]), rays[ray, LEVEL] + ONE
    px, py, pz = rays[ray, 0] + t * dx, rays[ray, 1] + t * dy, rays[ray, 2] + t * dz
    a, b, c, material = faces[face, 0], faces[face, 1], faces[face, 2], faces[face, 3]
    ax, ay, az = px - vertices[a, 0], py - vertices[a, 1], pz - vertices[a, 2]
    ux, uy, uz = vertices[b, 0] - vertices[a, 0], vertices[b, 1] - vertices[a, 1], vertices[b, 2] - vertices[a, 2]
    sx, sy, sz = vertices[c, 0] - vertices[a, 0], vertices[c, 1] - vertices[a, 1], vertices[c, 2] - vertices[a, 2]
    fx, fy, fz = uy * sz - uz * sy, uz * sx - ux * sz, ux * sy - uy * sx
    area = max(fx * fx + fy * fy + fz * fz, TINY)
    q = ((ay * sz - az * sy) * fx + (az * sx - ax * sz) * fy + (ax * sy - ay * sx) * fz) / area
    w = ((uy * az - uz * ay) * fx + (uz * ax - ux * az) * fy + (ux * ay - uy * ax) * fz) / area
    p = ONE - q - w
    length = np.float32(math.sqrt(area))
    fx, fy, fz = fx / length, fy / length, fz / length
    nx = p * vertices[a, 3] + q * vertices[b, 3] + w * vertices[c, 3]
    ny = p * vertices[a, 4] + q * vertices[b, 4] + w * vertices[c, 4]
    nz = p * vertices[a, 5] + q * vertices[b, 5] + w * vertices[c, 5]
    length = np.float32(math.sqrt(nx * nx + ny * ny + nz * nz))
    facing = -(nx * dx + ny * dy + nz * dz) / length
    side = ONE / length if facing >= ZERO else -ONE / length
    nx, ny, nz = nx * side, ny * side, nz * side
    cosine = min(abs(facing), ONE)
    u = p * vertices[a, 9] + q * vertices[b, 9] + w * vertices[c, 9]
    v = p * vertices[a, 10] + q * vertices[b, 10] + w * vertices[c, 10]
    back_share, through_share = materials[material, 3], materials[material, 4]
    thickness = materials[material, 5]
    parts = through_share > ZERO and not (
        materials[material, 17] == materials[material, 18] and materials[material, 18] == materials[material, 19]
    )
    into = facing >= ZERO or thickness > ZERO
    made = 0
    for band in range(3):
        weight = wx if band == 0 else wy if band == 1 else wz
        index = materials[material, 17 + (channel if channel >= 0 else band)]
        back = fresnel(materials, material, cosine, ONE / index if into else index)
        colored = p * vertices[a, 6 + band] + q * vertices[b, 6 + band] + w * vertices[c, 6 + band]
        if weight > ZERO:
            color = color_of(materials, applied, layers, kinds, texels, material, band, colored, u, v)
            shines = back * (ONE - back_share) + (ONE - back) * (ONE - through_share)
            light[to, band] += weight * color * shines
        children[first, WEIGHT + band] = weight * back * materials[material, 11 + band] * back_share
    if max(max(children[first, WEIGHT], children[first, WEIGHT + 1]), children[first, WEIGHT + 2]) > ZERO:
        rx, ry, rz = dx + TWO * cosine * nx, dy + TWO * cosine * ny, dz + TWO * cosine * nz
        leave(children, first, px, py, pz, fx, fy, fz, rx, ry, rz, np.float32(channel), level)
        made = 1
    several = parts and channel < 0
    for each in range(3 if several else 1):
        one = channel if channel >= 0 else each
        index = materials[material, 17 + one]
        ratio = ONE / index if into else index
        under = ONE - ratio * ratio * (ONE - cosine * cosine)
        through = ONE - fresnel(materials, material, cosine, ratio)
        child, most = first + made, ZERO
        for band in range(3):
            weight = wx if band == 0 else wy if band == 1 else wz
            if several and band != each:
                weight = ZERO
            weight = weight * through * materials[material, 14 + band] * through_share
            children[child, WEIGHT + band] = weight
            most = max(most, weight)
        if most <= ZERO:
            continue
        bend = ratio * cosine - np.float32(math.sqrt(max(under, ZERO)))
        rx, ry, rz = nx * bend + dx * ratio, ny * bend + dy * ratio, nz * bend + dz * ratio
        qx, qy, qz = px, py, pz
        if thickness > ZERO:
            reach = thickness
            if materials[material, 6] > ZERO:
                reach = thickness / max(-(rx * nx + ry * ny + rz * nz), LEAST)
            qx, qy, qz = px + reach * rx, py + reach * ry, pz + reach * rz
            rx, ry, rz = dx, dy, dz
        own = np.float32(each if several else channel)
        leave(children, child, qx, qy, qz, fx, fy, fz, rx, ry, rz, own, level)
        made += 1
    return made


def intersect(top_boxes, top_links, boxes, links, instances, roots, corners, numbers, rays, t, face):
    """The nearest hits of rays (N, COLUMNS), into ``t`` (N,) float32 and ``face`` (N,) int32."""
    structure = top_boxes, top_links, boxes, links, instances, roots, corners, numbers
    for ray in range(len(rays)):
        t[ray], face[ray] = nearest_hit(structure, rays, ray)


def trace(
    top_boxes,
    top_links,
    boxes,
    links,
    instances,
    roots,
    corners,
    numbers,
    faces,
    vertices,
    materials,
    applied,
    layers,
    kinds,
    texels,
    eyes,
    environment,
    depth,
    stack,
    pixels,
):
    """A picture: pixels (N, 3) of eye rays (N, COLUMNS), a tree of rays after the other, depth first: ``stack`` holds
    those that wait, as the calls of a recursion do. Returns the number of rays."""
    structure = top_boxes, top_links, boxes, links, instances, roots, corners, numbers
    surface = faces, vertices, materials, applied, layers, kinds, texels
    rays = 0
    for pixel in range(len(eyes)):
        for column in range(COLUMNS):
            stack[0, column] = eyes[pixel, column]
        waiting = 1
        while waiting > 0:
            ray = waiting - 1
            rays += 1
            waiting -= 1
            t, face = nearest_hit(structure, stack, ray)
            if face < 0:
                for band in range(3):
                    pixels[pixel, band] += stack[ray, WEIGHT + band] * environment[band]
                continue
            last = stack[ray, LEVEL] >= depth
            made = shade(surface, stack, ray, t, face, stack, ray, pixels, pixel)
            if not last:
                waiting += made
    return rays

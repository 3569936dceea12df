// Ray origins on a smooth surface made of flat triangles, lifted so that these cast no shadows on each other at the
// terminator: J. Hanika, "Hacking the Shadow Terminator", Ray Tracing Gems II (2021), chapter 4. A point is projected
// onto the corners' tangent planes, and the projections are interpolated. They lie twice as far out as the round
// surface (a chord's height is half of its end's distance to the other end's tangent), and could pass through adjacent
// geometry: half of the way leads to the round surface, from which all rays leave that the normal allows.

#ifdef HAVE_SMOOTH
// From the point of the last geometry_at to the one above it that shading starts at, on the ray's side; zero where there
// is none.
vec3 geometry_lift;

// Offset from the point. offsets: from each corner to the point. Zero where the surface is concave on this side, and
// where a corner's normal is more than 60 degrees off: it does not describe the shape. side: 1 for the front, -1.
// smallest: scene units; below, the surface is flat.
vec3 smooth_lift(vec3 offsets[3], vec3 normals[3], vec3 weights, vec3 normal, float side, float smallest) {
    vec3 lift = vec3(0.0);
    float min_cosine = 1.0;
    for (int k = 0; k < 3; k++) {
        lift += weights[k] * max(-side * dot(offsets[k], normals[k]), 0.0) * side * normals[k];
        min_cosine = min(min_cosine, dot(normals[k], normal));
    }
    float magnitude = max(max(abs(lift.x), abs(lift.y)), abs(lift.z));
    return min_cosine > 0.5 && magnitude > smallest ? 0.5 * lift : vec3(0.0);
}

void find_no_lift() {
    geometry_lift = vec3(0.0);
}

// Such a position's error is kept below zero: lib/lifted.glsl.
void take_lift(inout vec3 position, inout float error) {
    if (geometry_lift != vec3(0.0)) {
        position += geometry_lift;
        error = -error;
    }
}
#else
void find_no_lift() {}

void take_lift(inout vec3 position, inout float error) {}
#endif

// Where rays leave a smooth surface that is made of flat triangles, so that these cast no shadows on each other at the
// terminator: J. Hanika, "Hacking the Shadow Terminator", Ray Tracing Gems II (2021), chapter 4. A point is projected onto
// the tangent planes of the corners, by their normals, and these are weighed as the corners are. That is twice as far out
// as the round surface is (a chord's height is half of its end's distance to the other end's tangent), and would lead
// through what the surface stands on: half of the way leads to it, whose points all rays leave that the normal allows.

// From the point on. across: from each corner to the point. Nothing where the surface is hollow on this side, and where a
// corner's normal is more than 60 degrees off: it tells of something else than the shape, and the point would be anywhere.
// side: 1 of the front, -1. smallest: scene units; below, the surface is flat.
vec3 smooth_lift(vec3 across[3], vec3 normals[3], vec3 weights, vec3 normal, float side, float smallest) {
    vec3 lift = vec3(0.0);
    float least = 1.0;
    for (int k = 0; k < 3; k++) {
        lift += weights[k] * max(-side * dot(across[k], normals[k]), 0.0) * side * normals[k];
        least = min(least, dot(normals[k], normal));
    }
    float size = max(max(abs(lift.x), abs(lift.y)), abs(lift.z));
    return least > 0.5 && size > smallest ? 0.5 * lift : vec3(0.0);
}

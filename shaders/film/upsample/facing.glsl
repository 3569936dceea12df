// Mean irradiance of surfaces by orientation over the picture: an ambient cube (McTaggart 2004).
uniform vec3 facing_low, facing_high;  // luminance of surfaces that face down an axis, and up

float facing_light(vec3 normal) {
    vec3 share = normal * normal;
    float squared = share.x + share.y + share.z;
    return squared > 0.0 ? dot(share, mix(facing_high, facing_low, lessThan(normal, vec3(0.0)))) / squared : 1.0;
}

// Matte bases: Lambert's reflection, and with it diffuse transmission (KHR_materials_diffuse_transmission).
//
//   vec3 diffuse_value(vec3 wi, vec3 reflected, vec3 transmitted, out float pdf)
//   vec3 diffuse_sample(vec3 u, vec3 reflected, vec3 transmitted)
//
// wi: unit vector of the local frame whose z is the shading normal on the side of wo. u: in [0, 1)^3. reflected,
// transmitted: albedos of both sides; base_color * (1 - t), and diffuse_transmission_color * t.
#include "lib/hemisphere.glsl"

float diffuse_probability(vec3 reflected, vec3 transmitted) {
    float reflected_sum = dot(reflected, vec3(1.0)), transmitted_sum = dot(transmitted, vec3(1.0));
    return reflected_sum + transmitted_sum > 0.0 ? reflected_sum / (reflected_sum + transmitted_sum) : 1.0;
}

// The BSDF times |wi.z|; pdf: of diffuse_sample.
vec3 diffuse_value(vec3 wi, vec3 reflected, vec3 transmitted, out float pdf) {
    float cosine = 0.31830989 * abs(wi.z), probability = diffuse_probability(reflected, transmitted);
    pdf = cosine * (wi.z > 0.0 ? probability : 1.0 - probability);
    return (wi.z > 0.0 ? reflected : transmitted) * cosine;
}

vec3 diffuse_sample(vec3 u, vec3 reflected, vec3 transmitted) {
    vec3 wi = cosine_direction(u.xy);
    return vec3(wi.xy, u.z < diffuse_probability(reflected, transmitted) ? wi.z : -wi.z);
}

// The matte part of what glTF's material reflects, times the cosine; of light of all channels by green's index.
#include "shading/light_share.glsl"

vec3 principled_matte(Interaction at, vec3 wo, vec3 wi) {
    Layers layers = principled_seen(at, wo);
    float density;
    principled_soften(at.shading, layers.base.normal, wi, layers.base.diffuse, layers.base.through);
    return diffuse_value(base_local(layers.base, wi), layers.base.diffuse, layers.base.through, density);
}

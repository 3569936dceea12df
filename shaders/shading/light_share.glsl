// Shares of light by lobe: what comes through a surface is transmitted; of what it reflects Lambert's part is diffuse,
// and all else glossy. matte_value is generated (viewer/materials/tables.py).
#include "interface/light_share.glsl"
#include "interface/bsdf.glsl"
#include "shading/bsdf_side.glsl"

vec3 matte_value(Interaction at, vec3 wo, vec3 wi);

// How the surface's light from wi parts into layers; single: it comes by a mirror or through glass.
LightShare light_share(Interaction at, vec3 wi, bool single) {
    bool is_transmitted = dot(at.normal, at.wo) * dot(at.normal, wi) < 0.0;
    LightShare share = LightShare(vec3(0.0), is_transmitted ? 1.0 : 0.0);
    if (!is_transmitted && !single) {
        vec3 value = bsdf_value(at, at.wo, wi), matte = matte_value(at, at.wo, wi);
        share.diffuse = clamp(matte / max(value, vec3(1e-30)), 0.0, 1.0);
    }
    return share;
}

// The classic material where some of its surfaces are sheets of glass.
#include "shading/bsdf_classic.glsl"

// Within a sheet of thickness T: T along the refracted ray, or as far along it as the sheet's other side is.
vec3 classic_shift(Interaction at, vec3 wi) {
    Classic material = classic_material(interaction_material(at));
    vec3 normal = classic_normal(at, at.wo), refracted = classic_refracted(at, material, at.wo);
    float path = material.slab == 1 ? material.thickness / max(-dot(refracted, normal), 1e-3) : material.thickness;
    return dot(wi, normal) < 0.0 ? refracted * path : vec3(0.0);
}

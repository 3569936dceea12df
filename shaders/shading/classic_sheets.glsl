// The classic material where some of its surfaces are sheets of glass.
#include "shading/bsdf_classic.glsl"

// Within a sheet of thickness T: T along the refracted ray, or as far along it as the sheet's other side is.
vec3 classic_shift(Interaction at, vec3 wi) {
    Classic material = classic_material(interaction_material(at));
    vec3 n = classic_normal(at, at.wo), inside = classic_refracted(at, material, at.wo);
    float reach = material.slab == 1 ? material.thickness / max(-dot(inside, n), 1e-3) : material.thickness;
    return dot(wi, n) < 0.0 ? inside * reach : vec3(0.0);
}

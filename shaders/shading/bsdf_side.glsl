// Sides of a surface.
#include "lib/lifted.glsl"

// Whether light from wi can leave towards wo by reflection: on one side of the surface by both normals. What only the
// shading normal allows would come through the back (Veach 1997, section 5.3.1).
bool reflects(Interaction at, vec3 wo, vec3 wi) {
    // From above the facet, what the shading normal allows may come over its edge: whether it does is for rays to find.
    return (lifted(at.error) || dot(at.normal, wo) * dot(at.normal, wi) > 0.0) && dot(at.shading, wo) * dot(at.shading, wi) > 0.0;
}

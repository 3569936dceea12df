// The media behind a surface.
#include "interface/interaction.glsl"
#include "interface/media.glsl"

// The media of a ray that leaves a surface in a direction.
int media_behind(int inside, Interaction at, vec3 direction) {
    int medium = fetch_principled(interaction_material(at)).medium;
    float here = dot(at.normal, at.wo), there = dot(at.normal, direction);
    if (medium == 0 || here * there >= 0.0) return inside;
    return there < 0.0 ? media_with(inside, medium) : media_without(inside, medium);
}

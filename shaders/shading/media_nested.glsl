// Rays within nested volumes (C. M. Schmidt and B. Budge 2002; viewer/materials/media.py).
#include "interface/interaction.glsl"
#include "interface/media.glsl"
#include "interface/medium.glsl"

Media media_of(int number) {
    return Media(number);
}

int media_number(Media media) {
    return media.inside;
}

// The media of a ray that leaves a surface in a direction, of one that has come with these.
Media media_behind(Media media, Interaction at, vec3 direction) {
    int medium = medium_of(interaction_material(at));
    float cos_o = dot(at.normal, at.wo), cos_i = dot(at.normal, direction);
    if (medium == 0 || cos_o * cos_i >= 0.0) return media;
    return Media(cos_i < 0.0 ? media_with(media.inside, medium) : media_without(media.inside, medium));
}

vec3 media_transmitted(Media media, Interaction at, vec3 direction, float distance, vec3 light) {
    return light * medium_transmittance(media_top(media_behind(media, at, direction).inside), distance);
}

// Tells the surface which medium is on the other side of it.
void media_surround(Media media, inout Interaction at) {
    bool front = dot(at.normal, at.wo) > 0.0;
    int medium = medium_of(interaction_material(at));
    int inside = front || medium == 0 ? media.inside : media_without(media.inside, medium);
    set_interaction_outside(at, media_top(inside));
}

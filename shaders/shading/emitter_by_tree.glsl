// How likely the light tree finds a point of an emissive surface that was met by chance: its light by the face, and the
// probability of that by the way down to it.
// Memories: light_emitters, all that shine, by instance and face; light_objects, the instances.
#include "interface/light_emitter.glsl"
#include "shading/light_by_tree.glsl"

// Per unit of world area; 0 where it does not shine.
float emitter_density(LightContext context, Hit hit) {
    LightObject object = fetch_light_objects(hit.instance);
    int low = object.first, high = object.last;
    if (low < high) do {
        int middle = (low + high) / 2;
        bool is_before = fetch_light_emitters(middle).face < hit.triangle;
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    } while (low < high);
    bool valid = low < object.last;
    LightEmitter emitter = fetch_light_emitters(valid ? low : 0);
    valid = valid && emitter.face == hit.triangle && emitter.area_density > 0.0;
    return valid ? emitter.area_density * tree_probability(emitter.bit_trail, context) : 0.0;
}

float emitter_pdf(LightContext context, Hit hit, float light_pdf, float facing) {
    float density = light_pdf > 0.0 ? emitter_density(context, hit) : 0.0;
    return density * (hit.t * hit.t / max(facing, 1e-20));
}

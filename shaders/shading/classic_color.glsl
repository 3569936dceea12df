// The colour of a classic material at a point: the diffuse colour, or the vertex colours in its place, and what textures
// make of it one after the other.
#include "interface/texture.glsl"
#include "lib/second_place.glsl"

// What a texture makes of a colour. texel: its colour and opacity there.
vec3 classic_textured(vec3 color, vec4 texel, int mode, vec3 environment) {
    if (mode == CLASSIC_REPLACE) return texel.rgb;
    if (mode == CLASSIC_DECAL) return mix(color, texel.rgb, texel.a);
    return mode == CLASSIC_MODULATE ? color * texel.rgb : mix(color, environment, texel.rgb);
}

// The colour at a hit; diffuse: the material's own.
vec3 classic_color(Geometry at, Hit hit, vec3 diffuse) {
    Classic material = classic_material(at.material);
    vec3 color = (material.flags & CLASSIC_COLORED) != 0 ? at.color : diffuse;
    for (int k = 0; k < CLASSIC_LAYERS; k++) {
        if (k < material.layers.y) {
            ClassicLayer layer = fetch_classic_layers(material.layers.x + k);
            vec4 texel = texture_texel(layer.texture, at.uv, second_place(at), true);
            color = classic_textured(color, texel, layer.mode, layer.environment);
        }
    }
    return color;
}

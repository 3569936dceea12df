// A scene without textures.
#include "interface/texture.glsl"

vec3 texture_color(int number, vec2 uv) {
    return vec3(1.0);
}

#version 330
// The listing of figure 3 of Purcell et al. 2003 (figure 6.3 of Purcell 2004), by its names; what finds the partner's texel
// is in functions that are counted as addresses.
uniform sampler2D list;
uniform float width, stage, offset, stepno;
out vec4 color;

float place_of(vec2 at) { return at.y * width + at.x; }
float place_of_sign(float elem1d) { return mod(elem1d, stage) < offset ? 1.0 : -1.0; }
float place_of_partner(float elem1d, float csign) { return elem1d + csign * offset; }
vec2 texel_of(float place) { return vec2(mod(place, width), floor(place / width)); }

void main() {
    vec2 at = floor(gl_FragCoord.xy);
    float elem1d = place_of(at);
    float csign = place_of_sign(elem1d);
    float cdir = mod(floor(elem1d / stepno), 2.0) == 0.0 ? 1.0 : -1.0;
    vec4 val0 = texelFetch(list, ivec2(at), 0);
    vec4 val1 = texelFetch(list, ivec2(texel_of(place_of_partner(elem1d, csign))), 0);
    vec4 cmin = val0.y < val1.y ? val0 : val1;
    vec4 cmax = val0.y > val1.y ? val0 : val1;
    color = csign == cdir ? cmin : cmax;
}

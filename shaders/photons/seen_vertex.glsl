// A photon of the map as a point in the window, under a pinhole camera, coloured by its power with the strongest
// channel full. Hidden photons are clipped away by the hits of rays through a coarse grid of the picture: the farthest
// of the nine around a point, so that surfaces do not hide their own photons.
uniform vec3 eye;
uniform vec3 rightward;    // camera's right over the tangent of half the horizontal field of view
uniform vec3 upward;    // and up over that of the vertical one
uniform vec3 forward;
uniform int listed;     // 1: places are those of the sorted list; 0: all of the photons' stream
uniform int hiding;     // 1: hits are available
uniform float diameter; // of a point, pixels

flat out vec3 color;

const float NEAR = 1e-6, MARGIN = 5e-3;  // shares of a distance

// Whether all surfaces around a point of the picture are nearer than a distance.
bool hidden(vec2 ndc, float distance) {
    ivec2 size = textureSize(in_hits_0, 0);
    ivec2 texel_at_point = ivec2(vec2(0.5 + 0.5 * ndc.x, 0.5 - 0.5 * ndc.y) * vec2(size));
    float farthest = 0.0;
    for (int k = 0; k < 9; k++) {
        ivec2 texel = clamp(texel_at_point + ivec2(k % 3 - 1, k / 3 - 1), ivec2(0), size - 1);
        farthest = max(farthest, fetch_hits(texel.y * size.x + texel.x).t);
    }
    return distance > farthest * (1.0 + MARGIN);
}

void main() {
    int number = listed == 1 ? fetch_photon_list(gl_VertexID).photon : gl_VertexID;
    Photon photon = fetch_photons(number);
    vec3 relative = photon.position - eye;
    float depth = dot(relative, forward);
    vec2 ndc = vec2(dot(relative, rightward), dot(relative, upward)) / max(depth, NEAR);
    bool is_visible = photon.stored > 0 && depth > 0.0 && all(lessThan(abs(ndc), vec2(1.0)));
    if (is_visible && hiding == 1) is_visible = !hidden(ndc, length(relative));
    float strongest = max(photon.power.r, max(photon.power.g, photon.power.b));
    color = photon.power / max(strongest, 1e-30);
    gl_Position = is_visible ? vec4(ndc, 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
    gl_PointSize = diameter;
}

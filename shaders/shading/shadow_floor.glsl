// The floor at a height, and how it mirrors: as a polished dielectric by Schlick's approximation (C. Schlick, "An
// Inexpensive BRDF Model for Physically-based Rendering", 1994), bounded at grazing angles.
#include "interface/floor.glsl"
#include "lib/far.glsl"

const float FLOOR_NORMAL = 0.06, FLOOR_GRAZING = 0.3;  // of light that it mirrors: from above, and at most

// Whether a ray from above meets the floor, and where.
bool floor_meets(Ray ray, out float distance) {
    float height_difference = floor_height - ray.origin.y;
    bool meets = height_difference < 0.0 && ray.direction.y < 0.0;
    distance = meets ? height_difference / ray.direction.y : FAR;
    return distance < FAR;
}

float floor_mirrors(float facing, float height) {
    float one_minus = 1.0 - facing, one_minus2 = one_minus * one_minus;
    float fading = clamp(1.0 - height / floor_reach, 0.0, 1.0);
    return min(FLOOR_NORMAL + (1.0 - FLOOR_NORMAL) * one_minus2 * one_minus2 * one_minus, FLOOR_GRAZING) * fading * fading;
}

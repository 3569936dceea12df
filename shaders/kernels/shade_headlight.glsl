// Lambert's law under a light at the eye: the ray caster's shading. Purcell 2004, figure 3.1 (shader).
#include "interface/environment.glsl"
#include "interface/surface.glsl"
#include "lib/blind_ray.glsl"

int shade_headlight(in Ray ray, in Hit hit, out Radiance radiance) {
    if (hit.triangle < 0) {
        radiance.rgb = environment_radiance(ray.direction);
        if (sees_nothing(ray)) radiance.rgb = vec3(0.0);
        return EXIT_DONE;
    }
    Surface surface = surface_at(ray, hit);
    radiance.rgb = surface.albedo * max(0.0, -dot(surface.normal, ray.direction));
    return EXIT_DONE;
}

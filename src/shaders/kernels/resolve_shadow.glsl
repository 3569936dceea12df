// Adds the light that waited for its shadow ray, where nothing was in the way.

int resolve_shadow(in Hit hit, in Radiance pending, inout Radiance radiance) {
    if (hit.triangle < 0) radiance.rgb += pending.rgb;
    return EXIT_DONE;
}

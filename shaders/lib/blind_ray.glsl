// Camera rays where the film sees nothing: they have no length, which tells them from all others.

#ifdef HAVE_BLIND
void see_nothing(inout Ray ray) {
    if (ray.direction != vec3(0.0)) return;
    ray.direction = vec3(0.0, 0.0, 1.0);
    ray.t_max = 0.0;
}

bool sees_nothing(Ray ray) { return ray.t_max == 0.0; }
#else
void see_nothing(inout Ray ray) {}

bool sees_nothing(Ray ray) { return false; }
#endif

// The matte part of what glTF's material reflects, times the cosine; of light of all channels by green's index.

vec3 principled_matte(Interaction at, vec3 wo, vec3 wi) {
    Layers layers = principled_seen(at, wo);
    float lit = 1.0, density;
#ifdef HAVE_NORMAL
    if (dot(layers.base.normal, wi) > 0.0) lit = max(principled_lit(at.shading, layers.base.normal, wi), 1e-6);
#endif
    vec3 diffuse = layers.base.diffuse * lit, through = layers.base.through * lit;
    return diffuse_value(base_local(layers.base, wi), diffuse, through, density);
}

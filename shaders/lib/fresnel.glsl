// Fresnel's equations.

// Fresnel reflectance of unpolarised light at a smooth boundary of two dielectrics. ratio: index behind the boundary /
// index in front of it. cosine: of the angle of incidence, 0 .. 1. cosine_behind: of the angle of refraction; 0 for
// total reflection. Born and Wolf, Principles of Optics (1999), section 1.5.
float fresnel(float cosine, float ratio, out float cosine_behind) {
    cosine_behind = 0.0;
    if (ratio == 1.0) {
        cosine_behind = cosine;
        return 0.0;
    }
    float squared = 1.0 - (1.0 - cosine * cosine) / (ratio * ratio);
    if (squared <= 0.0) return 1.0;
    cosine_behind = sqrt(squared);
    float perpendicular = (cosine - ratio * cosine_behind) / (cosine + ratio * cosine_behind);
    float parallel = (ratio * cosine - cosine_behind) / (ratio * cosine + cosine_behind);
    return 0.5 * (perpendicular * perpendicular + parallel * parallel);
}

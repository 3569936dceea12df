// The parts of a pixel's light: what is seen of lights themselves, which has no noise, and what surfaces reflect. The
// latter is divided by their albedo before the filter and multiplied behind it, so that textures and edges stay sharp;
// of dark surfaces, whose highlights are not their albedo's, by less.
const float LEAST_REFLECTANCE = 0.05;

vec3 reflectance(Features features) {
    return max(features.albedo, LEAST_REFLECTANCE * features.hits) / max(features.count, 1.0);
}

vec3 seen_light(Features features) {
    return features.emission / max(features.count, 1.0);
}

// The sheen of cloth: Charlie's distribution of fibres. For KHR_materials_sheen; its colour is multiplied in outside.
//
//   float sheen_alpha(float roughness)
//   float sheen_value(vec3 wo, vec3 wi, float alpha, float albedo, out float pdf)
//   vec3 sheen_sample(vec3 wo, vec2 u)
//   float sheen_scaling(vec3 color, float albedo)
//
// Directions are unit vectors of the local frame whose z is the shading normal on the side of wo; wo.z > 0. u: in
// [0, 1)^2. albedo: sheen_albedo(wo.z, alpha). Estevez and Kulla, Production Friendly Microfacet Sheen BRDF (2017). Where
// the fit of its shadowing lets more than all come back, it is scaled to all.

float sheen_alpha(float roughness) {
    return clamp(roughness * roughness, 1e-3, 1.0);
}

// Smith's Lambda, fitted.
float sheen_lambda(float cosine, float alpha) {
    float smoothness = (1.0 - alpha) * (1.0 - alpha);
    float a = mix(21.5473, 25.3245, smoothness), b = mix(3.82987, 3.32435, smoothness), c = mix(0.19823, 0.16801, smoothness);
    float d = mix(-1.97760, -1.27393, smoothness), e = mix(-4.32054, -4.85967, smoothness);
    float x = clamp(cosine < 0.5 ? cosine : 1.0 - cosine, 1e-9, 0.5);
    float fit = a / (1.0 + b * pow(x, c)) + d * x + e, fit_at_half = a / (1.0 + b * pow(0.5, c)) + d * 0.5 + e;
    return exp(cosine < 0.5 ? fit : 2.0 * fit_at_half - fit);
}

// The BRDF of a white sheen times wi.z; 0 below. pdf: of sheen_sample.
float sheen_value(vec3 wo, vec3 wi, float alpha, float albedo, out float pdf) {
    vec3 h = wo + wi;
    float sine2 = min(dot(h.xy, h.xy) / max(dot(h, h), 1e-30), 1.0), are_above = float(wo.z > 0.0 && wi.z > 0.0);
    float distribution = (2.0 + 1.0 / alpha) * pow(max(sine2, 1e-30), 0.5 / alpha) * 0.15915494;
    float shadowed = 1.0 + sheen_lambda(wo.z, alpha) + sheen_lambda(wi.z, alpha);
    pdf = 0.15915494 * are_above;
    return are_above * distribution / (4.0 * max(wo.z, 1e-9) * shadowed * max(albedo, 1.0));
}

// All directions above alike: the lobe is too wide for another way to pay.
vec3 sheen_sample(vec3 wo, vec2 u) {
    float radius = sqrt(max(1.0 - u.y * u.y, 0.0)), angle = 6.2831853 * u.x;
    return vec3(radius * vec2(cos(angle), sin(angle)), u.y);
}

// Of what lies below, so that no more comes back than came.
float sheen_scaling(vec3 color, float albedo) {
    return 1.0 - max(max(color.x, color.y), color.z) * min(albedo, 1.0);
}

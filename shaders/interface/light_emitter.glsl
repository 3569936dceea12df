// What lights provide to whoever meets an emissive surface by chance.

// The density, 1 / sr, with which light_sample finds the point of a hit from the surface of a context. light_pdf: that per
// unit of world area by power, as interaction_at gives it. facing: absolute cosine of the ray there.
float emitter_pdf(LightContext context, Hit hit, float light_pdf, float facing);

// Light over so many surfaces goes to its layers; none of it is left behind.

void sort_portion(int surfaces, LightShare share, inout Radiance portion, inout LightSplit split) {
    vec3 transmitted = portion.rgb * share.transmitted, reflected = portion.rgb - transmitted;
    vec3 diffuse = reflected * share.diffuse, glossy = reflected - diffuse;
    split.whole += portion.rgb;
    if (surfaces == 0) {
        split.emission += portion.rgb;
    } else if (surfaces == 1) {
        split.direct_diffuse += diffuse;
        split.direct_glossy += glossy;
        split.direct_transmission += transmitted;
    } else {
        split.indirect_diffuse += diffuse;
        split.indirect_glossy += glossy;
        split.indirect_transmission += transmitted;
    }
    portion.rgb = vec3(0.0);
}

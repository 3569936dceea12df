// Light over so many surfaces goes to its layers; none of it is left behind.

void sort_portion(int surfaces, LightShare share, inout Radiance portion, inout LightSplit split) {
    vec3 through = portion.rgb * share.transmitted, back = portion.rgb - through;
    vec3 matte = back * share.diffuse, glossy = back - matte;
    split.whole += portion.rgb;
    if (surfaces == 0) {
        split.emission += portion.rgb;
    } else if (surfaces == 1) {
        split.direct_diffuse += matte;
        split.direct_glossy += glossy;
        split.direct_transmission += through;
    } else {
        split.indirect_diffuse += matte;
        split.indirect_glossy += glossy;
        split.indirect_transmission += through;
    }
    portion.rgb = vec3(0.0);
}

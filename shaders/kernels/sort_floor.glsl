// Where the floor before a backdrop mirrors a surface, what is left of the backdrop is seen itself.

int sort_floor(inout Radiance portion, out LightSplit split) {
    vec3 none = vec3(0.0);
    split = LightSplit(portion.rgb, none, none, none, none, none, none, portion.rgb);
    portion.rgb = none;
    return EXIT_DONE;
}

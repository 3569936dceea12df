// How a surface scatters light from wi towards where the path came from. single: in a single direction, as a mirror or
// clear glass does.
LightShare light_share(Interaction at, vec3 wi, bool single);

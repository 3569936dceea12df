// The rows of the map that takes a vertex at rest to its object's space: the weighted sum of its joints' maps (glTF 2.0,
// Khronos, 2021, 3.7.3.3). A weight of 0 is no influence: the joint may not be finite.
// Without joints everything stays at rest.

struct Blend {
    vec4 x;
    vec4 y;
    vec4 z;
};

#ifdef HAVE_JOINTS
bool skinned(Rest rest) {
    return rest.influences >= 0;
}

// Adds a joint's map, weighted.
void add_joint(inout Blend blend, int joint, float weight) {
    if (weight == 0.0) return;
    Joint matrix = fetch_joints(joint);
    blend.x += weight * matrix.row_x;
    blend.y += weight * matrix.row_y;
    blend.z += weight * matrix.row_z;
}

// The weighted sum of the maps of a vertex's joints, two joints in each element of its influences.
Blend blended(Rest rest) {
    Blend blend = Blend(vec4(0.0), vec4(0.0), vec4(0.0));
    for (int k = 0; k < rest.influences; k++) {
        Influences influences = fetch_influences(rest.influence + k);
        add_joint(blend, influences.joints.x, influences.weights.x);
        add_joint(blend, influences.joints.y, influences.weights.y);
    }
    return blend;
}
#else
bool skinned(Rest rest) {
    return false;
}

Blend blended(Rest rest) {
    return Blend(vec4(0.0), vec4(0.0), vec4(0.0));
}
#endif

// As pop_branch.glsl, within the media that it waited with.
#include "kernels/pop_branch.glsl"

int pop_branch_nested(in Branch level, inout Path path, inout Tree tree, out Ray ray, out Media media) {
    media = Media(level.inside);
    return pop_branch(level, path, tree, ray);
}

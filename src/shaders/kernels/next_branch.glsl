// Says which of the waiting rays is the next: the one that came last, so that the tree is walked depth first. Level n
// is the exit EXIT_LEVEL_00 + n, as in branch_refraction.glsl.

int next_branch(inout Tree tree) {
    if (tree.pending == 0) return EXIT_END;
    return EXIT_LEVEL_00 + --tree.pending;
}

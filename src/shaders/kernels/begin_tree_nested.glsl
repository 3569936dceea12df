// As begin_tree.glsl, outside of all volumes.
#include "kernels/begin_tree.glsl"

int begin_tree_nested(out Tree tree, out Media media) {
    media = Media(0);
    return begin_tree(tree);
}

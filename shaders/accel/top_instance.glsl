// The current instance of top-level traversal. Needs: record Top with instance.
#include "interface/top.glsl"

int top_instance(TopTraversal top) {
    return top.instance;
}

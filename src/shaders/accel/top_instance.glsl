// The instance that the walk through a top structure has come to. Needs: record Top with instance.
#include "interface/top.glsl"

int top_instance(TopTraversal top) {
    return top.instance;
}

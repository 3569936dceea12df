// The instance that the walk through a top structure has come to. Needs: record Top with instance.
#include "interface/top.glsl"

int top_instance(Top top) {
    return top.instance;
}

// As no_gather.glsl, where volumes are nested.
#include "kernels/no_gather.glsl"

int no_gather_nested(out Path gathering, out Media around) {
    around = Media(0);
    return no_gather(gathering);
}

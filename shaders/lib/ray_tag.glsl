// What Ray.any_hit bears beside bit 0, of which hits ask that let some rays pass: the sample's number, where surfaces are
// blended, and where back faces are culled whether the camera sees along the ray. That is so from it, and on by mirrors
// and through glass: these rays pass through culled faces (glTF 2.0, 3.9.5); shadow rays, and scattered light, meet them.

const int RAY_VIEW = 131072;  // above the sample's number; viewer/kernels/records.py has it, too

int ray_tag(int sample_number, bool view) {
    int tag = 0;
#ifdef HAVE_BLEND
#ifndef HAVE_MOTION
    tag += 2 * (sample_number & 65535);
#endif
#endif
#ifdef HAVE_CULLED
    tag += view ? RAY_VIEW : 0;
#endif
    return tag;
}

// The first of two hits. Needs: record Hit.

// The nearer one; on equal distances that of the lower instance, then of the lower triangle number, so that every
// structure finds the same in any order.
void keep_nearer(Hit found, inout Hit hit) {
    bool lower = found.instance < hit.instance || (found.instance == hit.instance && found.triangle < hit.triangle);
    if (found.t < hit.t || (found.t == hit.t && lower)) hit = found;
}

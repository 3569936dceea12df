// Which of two hits counts. Needs: record Hit.

// The nearer one; of equal distances the one of the lower instance, then of the lower triangle number, so that every
// structure finds the same, in whatever order it meets them.
void keep_nearer(Hit found, inout Hit hit) {
    bool lower = found.instance < hit.instance || (found.instance == hit.instance && found.triangle < hit.triangle);
    if (found.t < hit.t || (found.t == hit.t && lower)) hit = found;
}

// The first of two hits. Needs: record Hit.

// The nearer one; on equal distances that of the lower instance, then of the lower triangle number, so that every
// structure finds the same in any order.
void keep_nearer(Hit candidate, inout Hit hit) {
    bool same_instance = candidate.instance == hit.instance;
    bool lower = candidate.instance < hit.instance || (same_instance && candidate.triangle < hit.triangle);
    if (candidate.t < hit.t || (candidate.t == hit.t && lower)) hit = candidate;
}

// Counts a camera ray's hit: of all samples' hits, those of the first one's surface.

// Which surface a hit is of, as a hash of 15 bits; 0 is a floor's before a backdrop.
int surface_hash(Hit hit, Surface surface) {
    uint number = uint(hit.instance + 1) * 2654435769u + uint(surface.material + 1) * 2246822519u;
    return max(1, int(((number ^ (number >> 15u)) * 2654435769u) >> 17u));
}

void count_hit(inout Features features, int surface) {
    if (features.hits == 0.0) features.surface = surface;
    features.hits += 1.0;
    features.alike += surface == features.surface ? 1.0 : 0.0;
}

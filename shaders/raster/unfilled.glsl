// The pixels that the rasteriser has left to rays: those without a sample. Needs the stream features.

Choice element(ivec2 at) {
    return Choice(fetch_features(at).count > 0.0 ? 0.0 : 1.0);
}

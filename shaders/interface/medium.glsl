// Media by rank, and the numbers that hold several (viewer/materials/media.py). A number is of up to four ranks of
// MEDIA_BITS bits each, the highest in the lowest bits: the medium that is there; 0 is outside of all. Only scenes in
// which volumes overlap, or hold something, provide this.

// The medium that surfaces of a material bound; 0: none.
int medium_of(int material);

// The medium that is there.
int media_top(int inside);

// Within one more, and within one less.
int media_with(int inside, int medium);
int media_without(int inside, int medium);

// Whether a medium is among them.
bool media_hold(int inside, int medium);

// Index of refraction, for channel 0 (green, as for all), or 1, 2, 3: red, green, blue.
float medium_index(int medium, int channel);

// Whether the channels' indices differ.
bool medium_parts(int medium);

// What is left of light after a distance through a medium (Beer's law), linear sRGB.
vec3 medium_transmittance(int medium, float distance);

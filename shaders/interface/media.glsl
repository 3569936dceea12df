// The media that a ray is within: what a module provides over the record Media, which it keeps for each ray
// (viewer/materials/media.py). Where no volumes overlap or hold something, the record is empty and this does nothing.

// Of a number that waits in another record, as media_number gives it; 0: outside of all.
Media media_of(int number);
int media_number(Media media);

// Those that a ray is within which leaves a surface in a direction.
Media media_behind(Media media, Interaction at, vec3 direction);

// Light that goes a distance from a surface in a direction, less what the medium there absorbs.
vec3 media_transmitted(Media media, Interaction at, vec3 direction, float distance, vec3 light);

// Tells a surface which medium is on its front, or about what bounds none: its indices are relative to that.
void media_surround(Media media, inout Interaction at);

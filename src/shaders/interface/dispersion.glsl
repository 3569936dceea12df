// Surfaces at which the channels of light part: glass whose index of refraction differs between red, green and blue,
// which are 0, 1 and 2. Only scenes that have such glass provide this.

// Whether channels are refracted into directions of their own.
bool channels_part(Interaction at);

// A surface at which channels part, as one of them meets it: the BSDF's functions then are those of its index.
Interaction at_channel(Interaction at, int channel);

// Whether it scatters into the two directions of bsdf_branches alone, so that what is reflected can stay together.
bool channels_branch(Interaction at);

// The same surface where that is decided: it refracts for certain, or reflects.
Interaction at_branch(Interaction at, bool refracts);

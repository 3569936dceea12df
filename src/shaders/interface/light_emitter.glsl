// What a light tree provides to whoever meets what shines by chance.

// The density, per unit of world area, with which light_sample picks the point of a hit, from a position, for
// light_receiver; 0 where it does not shine.
float emitter_density(Hit hit, vec3 position);

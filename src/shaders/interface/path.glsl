// The settings of a path tracer.

// How light is looked for at surfaces.
const int PATH_BOTH = 0;    // lights and directions are sampled, and weighed by the power heuristic
const int PATH_LIGHTS = 1;  // lights alone
const int PATH_BSDF = 2;    // directions alone

// What a module provides: uniforms, and this to be asked for.
//   int path_depth        most surfaces of a path
//   int path_samples      samples that every pixel shall have
//   int path_light_samples  shadow rays of a surface, to each light or to lights chosen by power
//   int path_strategy     PATH_BOTH and so on
//   int path_roulette     surfaces from which on Russian roulette may end a path
//   int path_bounce       light over so many surfaces alone counts; -1: all
//   float path_clamp      largest component of a sample; 0: as it is
//   float path_smooth    roughness below which glossy surfaces are mirrors
//   int path_shared       1: all pixels of a sample have one offset from their centres; 0: each has its own

// Whether light over so many surfaces counts.
bool path_counts(int surfaces);

// The weight of a sample that was found with density mine, where another way finds it with density other (E. Veach,
// 1997, section 9.2.2: the power heuristic, of squares).
float mis_weight(float mine, float other);

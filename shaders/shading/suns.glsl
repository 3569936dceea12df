// Suns of an environment's picture (viewer/lighting/suns.py), of which some of its quanta choose one; other pictures have
// none. Their tables are there twice, those for the compensated density behind the others.
#ifdef HAVE_SUN
#include "interface/environment.glsl"
#include "lib/int_of.glsl"

// Density per solid angle at a place in the picture.
float sun_density(vec2 place, bool compensated) {
    vec2 position = place - 0.5;
    ivec2 texel = int_of(floor(position));
    texel.x = texel.x < 0 ? texel.x + environment_size.x : texel.x;
    int cell = fetch_environment_texels(max(texel.y, 0) * environment_size.x + texel.x).sun - 1;
    bool inside = texel.y >= 0 && cell >= 0;
    EnvironmentSun sun = fetch_environment_suns((inside ? cell : 0) + (compensated ? environment_sun_slots : 0));
    vec2 fraction = position - floor(position);
    vec2 edges = mix(sun.corners.xz, sun.corners.yw, fraction.x);
    float sine = sin(3.14159265 * place.y / float(environment_size.y));
    return inside ? sun.scale * mix(edges.x, edges.y, fraction.y) / sine : 0.0;
}

// In proportion to what goes linearly from a to b.
float sample_linear(float u, float a, float b) {
    float sum = a + b;
    return sum > 0.0 ? min(u * sum / (a + sqrt(mix(a * a, b * b, u))), 1.0) : u;
}

// A place in the picture that a sun lights, by one of the suns' quanta.
vec2 sun_place(vec2 u, int quantum, bool compensated) {
    int next = compensated ? environment_suns_count : 0, end = next + environment_suns_count;
    EnvironmentSunPlace sun_entry = fetch_environment_sun_places(next);
    next += 1;
    if (next < end) do {
        EnvironmentSunPlace other = fetch_environment_sun_places(next);
        if (quantum >= other.start) sun_entry = other;
        next += 1;
    } while (next < end);
    vec2 position = u * vec2(sun_entry.slots), in_cell = fract(position);
    ivec2 cell_position = min(int_of(floor(position)), sun_entry.slots - 1);
    int slot = cell_position.y * sun_entry.slots.x + cell_position.x;
    EnvironmentSun sun = fetch_environment_suns(sun_entry.first + slot);
    int cell = quantum - sun_entry.start < sun.threshold ? slot : sun.alias;
    sun = fetch_environment_suns(sun_entry.first + cell);
    float row_fraction = sample_linear(in_cell.y, sun.corners.x + sun.corners.y, sun.corners.z + sun.corners.w);
    vec2 edges = mix(sun.corners.xy, sun.corners.zw, row_fraction);
    int row = cell / sun_entry.columns;
    vec2 corner = vec2(sun_entry.corner + ivec2(cell - row * sun_entry.columns, row)) + 0.5;
    return corner + vec2(sample_linear(in_cell.x, edges.x, edges.y), row_fraction);
}

// The quanta that choose a sun.
int sun_levels(bool compensated) { return compensated ? environment_sun_levels.y : environment_sun_levels.x; }

// A direction of the picture's space to a sun, where a quantum chooses one.
void sample_sun(vec2 u, int quantum, bool compensated, inout vec3 direction) {
    vec2 angles = sun_place(u, quantum, compensated) * vec2(6.2831853, 3.14159265) / vec2(environment_size);
    vec3 sun_direction = vec3(-sin(angles.y) * cos(angles.x), cos(angles.y), -sin(angles.y) * sin(angles.x));
    if (quantum < sun_levels(compensated)) direction = sun_direction;
}

void add_suns(vec2 place, bool compensated, inout float density) {
    density += sun_density(place, compensated);
}

// Of a direction that both may choose, world space.
void with_suns(vec3 direction, bool compensated, inout float density) {
    density = environment_density(direction, compensated);
}
#else
int sun_levels(bool compensated) { return 0; }

void sample_sun(vec2 u, int quantum, bool compensated, inout vec3 direction) {}

void add_suns(vec2 place, bool compensated, inout float density) {}

void with_suns(vec3 direction, bool compensated, inout float density) {}
#endif

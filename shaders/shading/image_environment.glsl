// An equirectangular picture as environment: twin of raystream.scene.environment.ImageEnvironment.
// Row 0 is around +Y; the middle column is towards +X, from there to +Z on the right. Between texels it is bilinear.
// A texel is chosen through one of two alias tables, by its flux or by the excess of that over the mean (compensated;
// O. Karlik et al., "MIS Compensation: Optimizing Sampling Techniques in Multiple Importance Sampling", 2019), and a direction in it uniformly by solid angle (densities are those of
// raystream.lighting.environment); rows are bounded by latitudes, whose heights are kept from the nearer pole, where
// 1 - cos would lose its digits: the squared sine of half the angle.
#include "interface/environment.glsl"
#include "lib/int_of.glsl"

// Texels from the upper left corner of the picture.
vec2 environment_place(vec3 direction) {
    vec3 d = vec3(environment_turn.x * direction.x - environment_turn.y * direction.z, direction.y,
                  environment_turn.y * direction.x + environment_turn.x * direction.z);
    float level = length(d.xz);
    float around = level > 0.0 ? atan(d.z, d.x) : 0.0;  // atan(0, 0) is undefined
    return vec2(around * 0.15915494 + 0.5, atan(level, d.y) * 0.31830989) * vec2(environment_size);
}

vec3 environment_texel(int column, int row) {
    int width = environment_size.x, x = column < 0 ? column + width : column >= width ? column - width : column;
    return fetch_environment_texels(clamp(row, 0, environment_size.y - 1) * width + x).radiance;
}

vec3 environment_radiance(vec3 direction) {
    vec2 place = environment_place(direction) - 0.5;
    vec2 low = floor(place), share = place - low;
    ivec2 at = int_of(low);
    vec3 above = mix(environment_texel(at.x, at.y), environment_texel(at.x + 1, at.y), share.x);
    vec3 below = mix(environment_texel(at.x, at.y + 1), environment_texel(at.x + 1, at.y + 1), share.x);
    return mix(above, below, share.y);
}

// Squared sine of half the angle from the pole to a row's edge.
float environment_height(int edge) {
    float half_angle = 1.5707963 * float(edge) / float(environment_size.y);
    float sine = sin(half_angle);
    return sine * sine;
}

#ifdef HAVE_SUN
// Suns: viewer/lighting/suns.py. Their tables are there twice, those for the compensated density behind the others.
float sun_density(vec2 place, bool compensated) {
    vec2 at = place - 0.5;
    ivec2 texel = int_of(floor(at));
    texel.x = texel.x < 0 ? texel.x + environment_size.x : texel.x;
    int cell = fetch_environment_texels(max(texel.y, 0) * environment_size.x + texel.x).sun - 1;
    bool inside = texel.y >= 0 && cell >= 0;
    EnvironmentSun sun = fetch_environment_suns((inside ? cell : 0) + (compensated ? environment_sun_slots : 0));
    vec2 share = at - floor(at);
    vec2 pair = mix(sun.corners.xz, sun.corners.yw, share.x);
    float sine = sin(3.14159265 * place.y / float(environment_size.y));
    return inside ? sun.scale * mix(pair.x, pair.y, share.y) / sine : 0.0;
}

// In proportion to what goes linearly from a to b.
float sample_linear(float u, float a, float b) {
    float sum = a + b;
    return sum > 0.0 ? min(u * sum / (a + sqrt(mix(a * a, b * b, u))), 1.0) : u;
}

// A place in the picture that a sun lights, by one of the suns' quanta.
vec2 sun_place(vec2 u, int quantum, bool compensated) {
    int next = compensated ? environment_suns_count : 0, end = next + environment_suns_count;
    EnvironmentSunPlace of = fetch_environment_sun_places(next);
    next += 1;
    if (next < end) do {
        EnvironmentSunPlace other = fetch_environment_sun_places(next);
        if (quantum >= other.start) of = other;
        next += 1;
    } while (next < end);
    vec2 place = u * vec2(of.slots), inside = fract(place);
    ivec2 at = min(int_of(floor(place)), of.slots - 1);
    int slot = at.y * of.slots.x + at.x;
    EnvironmentSun sun = fetch_environment_suns(of.first + slot);
    int cell = quantum - of.start < sun.threshold ? slot : sun.alias;
    sun = fetch_environment_suns(of.first + cell);
    float down = sample_linear(inside.y, sun.corners.x + sun.corners.y, sun.corners.z + sun.corners.w);
    vec2 pair = mix(sun.corners.xy, sun.corners.zw, down);
    int row = cell / of.columns;
    vec2 corner = vec2(of.corner + ivec2(cell - row * of.columns, row)) + 0.5;
    return corner + vec2(sample_linear(inside.x, pair.x, pair.y), down);
}

#endif
void environment_sample(vec2 u, int quantum, bool compensated, out vec3 direction, out float density) {
#ifdef HAVE_SUN
    int sun_levels = compensated ? environment_sun_levels.y : environment_sun_levels.x;
    bool of_sun = quantum < sun_levels;
    vec2 bright = sun_place(u, quantum, compensated);
    quantum -= sun_levels;
#endif
    vec2 place = u * vec2(environment_slots), inside = fract(place);
    ivec2 cell = min(int_of(floor(place)), environment_slots - 1);
    int slot = cell.y * environment_slots.x + cell.x;
    EnvironmentChoice choice = fetch_environment_choices(slot + (compensated ? environment_excess : 0));
    bool keeps_slot = quantum < choice.threshold;
    int texel = keeps_slot ? slot : choice.alias;
    density = keeps_slot ? choice.density : choice.alias_density;
    int row = texel / environment_size.x, column = texel - row * environment_size.x;
    bool lower = 2 * row >= environment_size.y;
    int from_pole = lower ? environment_size.y - 1 - row : row;
    float down = lower ? 1.0 - inside.y : inside.y;
    float height = mix(environment_height(from_pole), environment_height(from_pole + 1), down);
    float y = 1.0 - 2.0 * height, radius = 2.0 * sqrt(height * max(0.0, 1.0 - height));
    float around = 6.2831853 * ((float(column) + inside.x) / float(environment_size.x) - 0.5);
    vec3 d = vec3(radius * cos(around), lower ? -y : y, radius * sin(around));
#ifdef HAVE_SUN
    vec2 angles = bright * vec2(6.2831853, 3.14159265) / vec2(environment_size);
    if (of_sun) d = vec3(-sin(angles.y) * cos(angles.x), cos(angles.y), -sin(angles.y) * sin(angles.x));
#endif
    direction = vec3(environment_turn.x * d.x + environment_turn.y * d.z, d.y,
                     environment_turn.x * d.z - environment_turn.y * d.x);
#ifdef HAVE_SUN
    density = environment_density(direction, compensated);
#endif
}

float environment_density(vec3 direction, bool compensated) {
    vec2 place = environment_place(direction);
    ivec2 at = clamp(int_of(floor(place)), ivec2(0), environment_size - 1);
    int texel = at.y * environment_size.x + at.x;
    float density = fetch_environment_choices(texel + (compensated ? environment_excess : 0)).density;
#ifdef HAVE_SUN
    density += sun_density(place, compensated);
#endif
    return density;
}

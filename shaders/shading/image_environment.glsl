// An equirectangular picture as environment: twin of raystream.scene.environment.ImageEnvironment.
// Row 0 is around +Y; the middle column is towards +X, from there to +Z on the right. Between texels it is bilinear.
// A texel is chosen through one of two alias tables, by its flux or by the excess of that over the mean (compensated;
// O. Karlik et al., "MIS Compensation: Optimizing Sampling Techniques in Multiple Importance Sampling", 2019), and a direction in it uniformly by solid angle (densities are those of
// raystream.lighting.environment); rows are bounded by latitudes, whose heights are kept from the nearer pole, where
// 1 - cos would lose its digits: the squared sine of half the angle.
#include "interface/environment.glsl"
#include "lib/int_of.glsl"
#include "shading/suns.glsl"

// Texels from the upper left corner of the picture.
vec2 environment_place(vec3 direction) {
    vec3 d = vec3(environment_turn.x * direction.x - environment_turn.y * direction.z, direction.y,
                  environment_turn.y * direction.x + environment_turn.x * direction.z);
    float horizontal = length(d.xz);
    float azimuth = horizontal > 0.0 ? atan(d.z, d.x) : 0.0;  // atan(0, 0) is undefined
    return vec2(azimuth * 0.15915494 + 0.5, atan(horizontal, d.y) * 0.31830989) * vec2(environment_size);
}

// A texel, with columns repeated and rows clamped.
vec3 environment_texel(int column, int row) {
    int width = environment_size.x, x = column < 0 ? column + width : column >= width ? column - width : column;
    return fetch_environment_texels(clamp(row, 0, environment_size.y - 1) * width + x).radiance;
}

// The bilinear interpolation of the picture in a direction, world space.
vec3 environment_radiance(vec3 direction) {
    vec2 position = environment_place(direction) - 0.5;
    vec2 corner = floor(position), fraction = position - corner;
    ivec2 texel = int_of(corner);
    vec3 upper = mix(environment_texel(texel.x, texel.y), environment_texel(texel.x + 1, texel.y), fraction.x);
    vec3 lower = mix(environment_texel(texel.x, texel.y + 1), environment_texel(texel.x + 1, texel.y + 1), fraction.x);
    return mix(upper, lower, fraction.y);
}

// Squared sine of half the angle from the pole to a row's edge.
float environment_height(int edge) {
    float half_angle = 1.5707963 * float(edge) / float(environment_size.y);
    float sine = sin(half_angle);
    return sine * sine;
}

// A direction and its density, by a number in the square and a quantum that chooses slot or alias.
void environment_sample(vec2 u, int quantum, bool compensated, out vec3 direction, out float density) {
    int local_quantum = quantum - sun_levels(compensated);
    vec2 position = u * vec2(environment_slots), in_cell = fract(position);
    ivec2 cell = min(int_of(floor(position)), environment_slots - 1);
    int slot = cell.y * environment_slots.x + cell.x;
    EnvironmentChoice choice = fetch_environment_choices(slot + (compensated ? environment_excess : 0));
    bool keeps_slot = local_quantum < choice.threshold;
    int texel = keeps_slot ? slot : choice.alias;
    density = keeps_slot ? choice.density : choice.alias_density;
    int row = texel / environment_size.x, column = texel - row * environment_size.x;
    bool is_lower = 2 * row >= environment_size.y;
    int from_pole = is_lower ? environment_size.y - 1 - row : row;
    float row_fraction = is_lower ? 1.0 - in_cell.y : in_cell.y;
    float pole_height = mix(environment_height(from_pole), environment_height(from_pole + 1), row_fraction);
    float y = 1.0 - 2.0 * pole_height, radius = 2.0 * sqrt(pole_height * max(0.0, 1.0 - pole_height));
    float azimuth = 6.2831853 * ((float(column) + in_cell.x) / float(environment_size.x) - 0.5);
    vec3 d = vec3(radius * cos(azimuth), is_lower ? -y : y, radius * sin(azimuth));
    sample_sun(u, quantum, compensated, d);
    direction = vec3(environment_turn.x * d.x + environment_turn.y * d.z, d.y,
                     environment_turn.x * d.z - environment_turn.y * d.x);
    with_suns(direction, compensated, density);
}

// The density with which environment_sample finds a direction, 1 / sr.
float environment_density(vec3 direction, bool compensated) {
    vec2 position = environment_place(direction);
    ivec2 texel_position = clamp(int_of(floor(position)), ivec2(0), environment_size - 1);
    int texel = texel_position.y * environment_size.x + texel_position.x;
    float density = fetch_environment_choices(texel + (compensated ? environment_excess : 0)).density;
    add_suns(position, compensated, density);
    return density;
}

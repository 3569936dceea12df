// The light that is known on a pixel's surface: of the finest cells around, and of wider ones as far as these do not tell
// it. What lies between cells is mixed by chance, and smoothed by the filter that follows (Binder et al. 2021, "Fast Path
// Space Filtering by Jittered Spatial Hashing"). Needs the streams lit, cells, and the constant TAPS.
#include "film/denoise/view.glsl"
#include "film/denoise/cache_cells.glsl"
#include "lib/luminance.glsl"

uniform float error;  // relative, within which cells should tell light

const float FEW = 4.0, RARE = 4.0;  // samples that do not tell their variance: it is that of light at one in five
const float MIXED = 0.25;           // off a cell's fingerprint: another cell has added to its texel

// The cells that points beside this one lie in, by chance up to half a cell aside along each axis, and one of the sides
// that its surface faces: on average the eight cells around, the nearer the more.
Cell cells_around(CellPoint point, vec3 normal, ivec2 at, int step) {
    Cell sum = Cell(vec3(0.0), 0.0, 0.0, 0.0);
    for (int tap = 0; tap < TAPS; ++tap) {
        uvec4 words = pcg4d(uvec4(uvec2(at), uint(turn), uint(TAPS * step + tap)));
        vec3 aside = vec3(unit_float(words.xy), unit_float(words.z)) - 0.5;
        ivec3 address = cell_address(point, ivec3(floor(point.rest + aside)), facing_side(normal, unit_float(words.w)));
        Cell cell = fetch_cells(address.xy);
        if (!(abs(cell.fingerprint - float(address.z) * cell.samples) < MIXED * cell.samples)) continue;
        sum.rgb += cell.rgb;
        sum.samples += cell.samples;
        sum.squares += cell.squares;
    }
    const float share = 1.0 / float(TAPS);
    return Cell(share * sum.rgb, share * sum.samples, share * sum.squares, 0.0);
}

// How many samples tell the mean of such light within the relative error.
float samples_wanted(Cell sum) {
    float luminance = dot(sum.rgb, LUMINANCE) / sum.samples;
    float relative = max(sum.squares / sum.samples / (luminance * luminance + 1e-30) - 1.0, 0.0);
    return (sum.samples * relative + FEW * RARE) / ((sum.samples + FEW) * error * error);
}

Known element(ivec2 at) {
    Lit lit = fetch_lit(at);
    if (!is_surface(lit.normal, lit.nearness)) return Known(vec3(0.0), 0.0, 0.0);
    vec3 offset = view_through(at) / lit.nearness;
    int level = finest_level(lit.nearness);
    Cell total = Cell(vec3(0.0), 0.0, 0.0, 0.0);
    for (int step = 0; step < LEVELS; ++step) {
        Cell sum = cells_around(cell_point(offset, level + step), lit.normal, at, step);
        if (sum.samples <= 0.0) continue;
        // As much of the wider cells as is lacking.
        float share = step == 0 ? 1.0 : clamp((samples_wanted(sum) - total.samples) / sum.samples, 0.0, 1.0);
        total.rgb += share * sum.rgb;
        total.samples += share * sum.samples;
        total.squares += share * sum.squares;
        if (total.samples > 0.0 && total.samples >= samples_wanted(total)) break;
    }
    if (total.samples <= 0.0) return Known(vec3(0.0), 0.0, 0.0);
    vec3 rgb = total.rgb / total.samples;
    float luminance = dot(rgb, LUMINANCE);
    return Known(rgb, total.samples, max(total.squares / total.samples - luminance * luminance, 0.0));
}

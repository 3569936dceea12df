// The light of a picture's pixels for the cells that they lie in: vertex program of a scatter. The finest cells get every
// pixel, wider ones get blocks of 2 x 2, 4 x 4 .. pixels, about as wide as they are: those of a block that show the surface
// of one of them, chosen by chance, count as if they lay where it does. A surface that faces between axes adds to
// the cell of one of them, so that samples stay whole numbers, which sums hold exactly. Needs the stream lit.
#include "film/denoise/view.glsl"
#include "film/denoise/alike.glsl"
#include "film/denoise/cache_cells.glsl"
#include "lib/luminance.glsl"

uniform ivec2 first;    // pixel
uniform int stride;     // every so many columns and rows
uniform ivec2 taken;    // columns and rows of those
uniform int finest;     // level that is kept
uniform float samples;  // that a pixel is the mean of

const float SAME = 0.5; // weight from which on two pixels show the same surface

bool scattered(int number, out ivec2 texel, out Cell cell) {
    int step = finest, edge = 1 << finest;
    ivec2 blocks = (taken - 1) / edge + 1;
    while (number >= blocks.x * blocks.y) {
        number -= blocks.x * blocks.y;
        ++step;
        edge *= 2;
        blocks = (taken - 1) / edge + 1;
    }
    ivec2 corner = edge * ivec2(number % blocks.x, number / blocks.x), end = min(corner + edge, taken);
    uvec4 words = pcg4d(uvec4(uvec2(corner), uint(turn), uint(step)));
    ivec2 chosen = corner + ivec2(unit_float(words.xy) * vec2(end - corner)), middle = first + stride * chosen;
    Lit own = fetch_lit(middle);
    texel = ivec2(0);
    cell = Cell(vec3(0.0), 0.0, 0.0, 0.0);
    if (!is_surface(own.normal, own.nearness)) return false;
    Plane plane = plane_of(Guide(own.normal, own.nearness), middle, float(stride * edge));
    for (int y = corner.y; y < end.y; ++y) {
        for (int x = corner.x; x < end.x; ++x) {
            ivec2 at = first + stride * ivec2(x, y);
            Lit lit = fetch_lit(at);
            bool same = falling(unlike(plane, Guide(lit.normal, lit.nearness), vec2(at - middle))) > SAME;
            if (!same || !all(are_numbers(lit.rgb))) continue;
            float luminance = samples * dot(lit.rgb, LUMINANCE);
            cell.rgb += samples * lit.rgb;
            cell.samples += samples;
            cell.squares += luminance * luminance;
        }
    }
    CellPoint point = cell_point(view_through(middle) / own.nearness, finest_level(own.nearness) + step);
    ivec3 address = cell_address(point, ivec3(floor(point.rest)), facing_side(own.normal, unit_float(words.w)));
    texel = address.xy;
    cell.fingerprint = cell.samples * float(address.z);
    return cell.samples > 0.0;
}

// How much of the spread of the light around a pixel of one sample, which does not tell its variance, is noise, and not
// the edge of a shadow. Along an edge at least three of the eight pixels around any one are on its own side: where the
// third nearest in light is as near as the first, but the mean is not, there is an edge; noise is unlike most.
// Needs the stream lit.
#include "film/denoise/view.glsl"
#include "film/denoise/alike.glsl"
#include "lib/luminance.glsl"

const float EDGE = 0.04, NOISE = 0.14;  // third nearest by the mean, squared: of edges up to, of noise from

float light_at[25], alike_at[25];  // of the 5 x 5 pixels around, and how far they are of the point's surface
float third_sum, mean_sum;

// The squared differences to the pixels around one of the inner 3 x 3: the third smallest, and the mean.
void compare(int k) {
    vec3 least = vec3(1e30);  // in order
    float sum_here = 0.0, count = 1e-20;
    for (int n = 0; n < 9; ++n) {
        int other = k + 5 * (n / 3 - 1) + n % 3 - 1;
        float apart = light_at[other] - light_at[k], weight = n == 4 ? 0.0 : alike_at[other];
        apart *= apart;
        sum_here += weight * apart;
        count += weight;
        float found = weight > 0.5 ? apart : 1e30;
        float second_here = max(least.x, found), third = max(least.y, second_here);
        least = vec3(min(least.x, found), min(least.y, second_here), min(least.z, third));
    }
    float mean_here = sum_here / count;
    third_sum += alike_at[k] * min(least.z, mean_here);
    mean_sum += alike_at[k] * mean_here;
}

float noise_around(ivec2 point) {
    Lit centre = fetch_lit(point);
    Plane plane = plane_of(Guide(centre.normal, centre.nearness), point, 1.0);
    ivec2 limit = textureSize(in_lit_0, 0) - 1;
    for (int k = 0; k < 25; ++k) {
        ivec2 offset = ivec2(k % 5, k / 5) - 2, place = clamp(point + offset, ivec2(0), limit);
        Lit there = fetch_lit(place);
        float weight = falling(unlike(plane, Guide(there.normal, there.nearness), vec2(offset)));
        light_at[k] = dot(there.rgb, LUMINANCE);
        alike_at[k] = place == point + offset ? weight : 0.0;
    }
    third_sum = mean_sum = 0.0;
    for (int y = 1; y < 4; ++y) {
        for (int x = 1; x < 4; ++x) compare(5 * y + x);
    }
    return mean_sum > 0.0 ? clamp((third_sum / mean_sum - EDGE) / (NOISE - EDGE), 0.0, 1.0) : 1.0;
}

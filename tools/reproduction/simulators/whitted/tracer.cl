// The four kernels of the thesis (T 6.4, figure 6-16) in OpenCL C: primary rays, intersector, cube map, renderer. They
// are those of loops.py, statement by statement, over the arrays of model.py. A ray is 12 floats: origin, direction,
// weight, channel (-1: all), level, pixel. A kernel runs in whole groups; of its
// work-items those from ``work`` on do nothing.

#define COLUMNS 12
#define MOST_CHILDREN 4
#define TINY 1e-30f
#define FAR 3.4e38f
#define WIDER 1.0000006f
#define OFFSET 1.52587890625e-5f

__kernel void primary_rays(
    float4 origin, float4 right, float4 up, float4 forward, int width, int height, __global float *rays,
    int work
) {
    if (get_global_id(0) >= work) return;
    int pixel = get_global_id(0), column = pixel % width, row = pixel / width;
    float across = 2.0f * (column + 0.5f) / width - 1.0f, down = 1.0f - 2.0f * (row + 0.5f) / height;
    float3 direction = normalize(forward.xyz + across * right.xyz + down * up.xyz);
    __global float *ray = rays + COLUMNS * pixel;
    vstore3(origin.xyz, 0, ray);
    vstore3(direction, 1, ray);
    vstore3((float3)(1.0f), 2, ray);
    ray[9] = -1.0f;
    ray[10] = 0.0f;
    ray[11] = pixel;
}

float3 inverted(float3 direction) {
    return 1.0f / select(direction, (float3)(TINY), isless(fabs(direction), (float3)(TINY)));
}

bool enters(__global const float *box, float3 origin, float3 inverse, float nearest) {
    float3 at_low = (vload3(0, box) - origin) * inverse, at_high = (vload3(1, box) - origin) * inverse;
    float3 nearer = fmin(at_low, at_high), farther = fmax(at_low, at_high);
    float near = fmax(fmax(nearer.x, nearer.y), fmax(nearer.z, 0.0f));
    return near <= fmin(fmin(farther.x, farther.y), fmin(farther.z, nearest)) * WIDER;
}

float distance_of(__global const float *triangle, float3 origin, float3 direction) {
    float3 a = vload3(0, triangle), ab = vload3(1, triangle) - a, ac = vload3(2, triangle) - a;
    float3 p = cross(direction, ac);
    float determinant = dot(ab, p);
    if (determinant == 0.0f) return 0.0f;
    float inverse = 1.0f / determinant;
    float3 s = origin - a;
    float v = dot(s, p) * inverse;
    float3 q = cross(s, ab) * inverse;
    float w = dot(direction, q);
    return v >= 0.0f && w >= 0.0f && v + w <= 1.0f ? dot(ac, q) : 0.0f;
}

__kernel void intersector(
    __global const float *top_boxes, __global const int *top_links, __global const float *boxes,
    __global const int *links, __global const float *instances, __global const int *roots,
    __global const float *corners, __global const int *numbers, int top_count, int count,
    __global const float *rays, __global float *distances, __global int *hits, int work
) {
    if (get_global_id(0) >= work) return;
    int number = get_global_id(0);
    float3 origin = vload3(0, rays + COLUMNS * number), direction = vload3(1, rays + COLUMNS * number);
    float3 inverse = inverted(direction);
    float nearest = FAR;
    int face = -1, above = 0;
    while (above < top_count) {
        int instance = top_links[2 * above + 1];
        if (!enters(top_boxes + 6 * above, origin, inverse, nearest)) {
            above = top_links[2 * above];
            continue;
        }
        above++;
        if (instance < 0) continue;
        __global const float *rows = instances + 12 * instance;
        float3 x = vload3(0, rows), y = vload3(0, rows + 4), z = vload3(0, rows + 8);
        float3 from = origin - (float3)(rows[3], rows[7], rows[11]);
        from = (float3)(dot(x, from), dot(y, from), dot(z, from));
        float3 along = (float3)(dot(x, direction), dot(y, direction), dot(z, direction));
        float3 own_inverse = inverted(along);
        int node = roots[2 * instance];
        while (node < count) {
            if (!enters(boxes + 6 * node, from, own_inverse, nearest)) {
                node = links[3 * node];
                continue;
            }
            int first = links[3 * node + 1], last = first + links[3 * node + 2];
            node = last > first ? links[3 * node] : node + 1;
            for (int at = first; at < last; at++) {
                float t = distance_of(corners + 9 * at, from, along);
                int own = roots[2 * instance + 1] + numbers[at];
                if (t > 0.0f && (t < nearest || (t == nearest && own < face))) {
                    nearest = t;
                    face = own;
                }
            }
        }
    }
    distances[number] = nearest;
    hits[number] = face;
}

__kernel void cube_map(
    __global const int *which, __global const float *rays, float4 environment, __global float *light,
    int work
) {
    if (get_global_id(0) >= work) return;
    int number = which[get_global_id(0)];
    vstore3(vload3(2, rays + COLUMNS * number) * environment.xyz, number, light);
}

int wrapped(int place, int size, int clamped) {
    int turned = place % size;
    return clamped ? clamp(place, 0, size - 1) : turned < 0 ? turned + size : turned;
}

float4 texel(__global const int *kind, __global const float *texels, float2 place) {
    int width = kind[2], height = kind[3];
    int left = (int)floor(place.x), top = (int)floor(place.y);
    float across = place.x - left, down = place.y - top;
    int l = wrapped(left, width, kind[4]), r = wrapped(left + 1, width, kind[4]);
    int t = kind[1] + width * wrapped(top, height, kind[5]), b = kind[1] + width * wrapped(top + 1, height, kind[5]);
    float4 above = vload4(t + l, texels) * (1.0f - across) + vload4(t + r, texels) * across;
    float4 below = vload4(b + l, texels) * (1.0f - across) + vload4(b + r, texels) * across;
    return above * (1.0f - down) + below * down;
}

float3 color_of(
    float3 color, __global const int *applied, __global const float *layers, __global const int *kinds,
    __global const float *texels, float2 uv
) {
    for (int layer = applied[0]; layer < applied[0] + applied[1]; layer++) {
        __global const float *own = layers + 10 * layer;
        __global const int *kind = kinds + 6 * layer;
        float2 place = (float2)(own[4] * uv.x + own[5] * uv.y + own[6], own[7] * uv.x + own[8] * uv.y + own[9]);
        float4 found = texel(kind, texels, place * (float2)(kind[2], kind[3]) - 0.5f);
        float3 c = found.xyz;
        if (kind[0] == 0) color = c;
        else if (kind[0] == 1) color = color * (1.0f - found.w) + c * found.w;
        else if (kind[0] == 2) color *= c;
        else color = color * (1.0f - c) + vload3(0, own) * c;
    }
    return color;
}

float fresnel(__global const float *material, float cosine, float ratio) {
    if (ratio * ratio * (1.0f - cosine * cosine) > 1.0f) return 1.0f;
    return clamp(material[0] + material[1] * pow(fmax(1.0f - cosine, TINY), material[2]), 0.0f, 1.0f);
}

void leave(
    __global float *ray, float3 at, float3 face, float3 direction, float3 weight, float channel, float level, float pixel
) {
    float3 size = fabs(at);
    float away = OFFSET * fmax(fmax(size.x, size.y), fmax(size.z, 1e-6f));
    vstore3(at + (dot(face, direction) >= 0.0f ? away : -away) * face, 0, ray);
    vstore3(direction / length(direction), 1, ray);
    vstore3(weight, 2, ray);
    ray[9] = channel;
    ray[10] = level;
    ray[11] = pixel;
}

__kernel void renderer(
    __global const int *faces, __global const float *vertices, __global const float *materials,
    __global const int *applied, __global const float *layers, __global const int *kinds,
    __global const float *texels, __global const int *which, __global const float *rays,
    __global const float *distances, __global const int *hits, __global float *children, __global int *made,
    __global float *light, int work
) {
    if (get_global_id(0) >= work) return;
    int number = which[get_global_id(0)];
    __global const float *ray = rays + COLUMNS * number;
    __global const int *corner = faces + 4 * hits[number];
    __global const float *a = vertices + 11 * corner[0], *b = vertices + 11 * corner[1], *c = vertices + 11 * corner[2];
    __global const float *material = materials + 20 * corner[3];
    __global float *child = children + COLUMNS * MOST_CHILDREN * get_global_id(0);
    float3 direction = vload3(1, ray), weight = vload3(2, ray);
    int channel = (int)ray[9];
    float level = ray[10] + 1.0f, pixel = ray[11];
    float3 at = vload3(0, ray) + distances[number] * direction;
    float3 ab = vload3(0, b) - vload3(0, a), ac = vload3(0, c) - vload3(0, a), p = at - vload3(0, a);
    float3 face = cross(ab, ac);
    float area = fmax(dot(face, face), TINY);
    float v = dot(cross(p, ac), face) / area, w = dot(cross(ab, p), face) / area, u = 1.0f - v - w;
    face /= sqrt(area);
    float3 normal = u * vload3(1, a) + v * vload3(1, b) + w * vload3(1, c);
    normal /= length(normal);
    float facing = -dot(normal, direction);
    if (facing < 0.0f) normal = -normal;
    float cosine = fmin(fabs(facing), 1.0f);
    float2 uv = u * vload2(0, a + 9) + v * vload2(0, b + 9) + w * vload2(0, c + 9);
    float3 color = material[7] > 0.0f ? u * vload3(2, a) + v * vload3(2, b) + w * vload3(2, c) : vload3(0, material + 8);
    color = color_of(color, applied + 2 * corner[3], layers, kinds, texels, uv);
    float3 indices = channel >= 0 ? (float3)(material[17 + channel]) : vload3(0, material + 17);
    bool into = facing >= 0.0f || material[5] > 0.0f;
    float3 ratios = into ? 1.0f / indices : indices;
    float3 back = (float3)(
        fresnel(material, cosine, ratios.x), fresnel(material, cosine, ratios.y), fresnel(material, cosine, ratios.z)
    );
    vstore3(weight * color * (back * (1.0f - material[3]) + (1.0f - back) * (1.0f - material[4])), number, light);
    int count = 0;
    float3 reflection = weight * back * vload3(0, material + 11) * material[3];
    if (fmax(fmax(reflection.x, reflection.y), reflection.z) > 0.0f) {
        leave(child, at, face, direction + 2.0f * cosine * normal, reflection, channel, level, pixel);
        count++;
    }
    bool parts = material[4] > 0.0f && !(material[17] == material[18] && material[18] == material[19]);
    bool several = parts && channel < 0;
    for (int each = 0; each < (several ? 3 : 1); each++) {
        float ratio = each == 0 ? ratios.x : each == 1 ? ratios.y : ratios.z;
        float through = 1.0f - (each == 0 ? back.x : each == 1 ? back.y : back.z);
        float3 refraction = weight * through * vload3(0, material + 14) * material[4];
        if (several) refraction *= (float3)(each == 0, each == 1, each == 2);
        if (fmax(fmax(refraction.x, refraction.y), refraction.z) <= 0.0f) continue;
        float under = fmax(1.0f - ratio * ratio * (1.0f - cosine * cosine), 0.0f);
        float3 inside = normal * (ratio * cosine - sqrt(under)) + direction * ratio, from = at, along = inside;
        if (material[5] > 0.0f) {
            float reach = material[6] > 0.0f ? material[5] / fmax(-dot(inside, normal), 1e-3f) : material[5];
            from = at + reach * inside;
            along = direction;
        }
        leave(child + COLUMNS * count, from, face, along, refraction, several ? each : channel, level, pixel);
        count++;
    }
    made[get_global_id(0)] = count;
}

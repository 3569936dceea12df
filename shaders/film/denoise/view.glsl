// The view of a picture's pixels, in world space: what lies at depth d along the view's axis is at eye + d view_through.
#ifdef HAVE_VIEW_MAP
// Of projections that are no pinhole d is the distance along a pixel's ray; view_through comes from a map of unit vectors in
// camera space, and parallel rays start at other places beside it.
uniform sampler2D in_view_0;
uniform mat3 view_axes;           // from camera space to the world
uniform vec4 view_place;          // in the map: of the upper left pixel's centre, and its change from pixel to pixel
uniform vec3 view_start_dx;   // how starts of rays change from a pixel to the next on its right
uniform vec3 view_start_dy;     // and to the one below

uniform vec2 view_pair;           // of stereo pairs: the place between both eyes' pixels, and how far these are apart

vec3 view_near(vec2 at) {
    return view_axes * textureLod(in_view_0, view_place.xy + at * view_place.zw, 0.0).xyz;
}

// The map is of one eye.
vec2 view_of_eye(ivec2 at) {
    return vec2(float(at.x) - (float(at.x) > view_pair.x ? view_pair.y : 0.0), float(at.y));
}

vec3 view_through(ivec2 at) {
    return view_near(view_of_eye(at));
}

// How view_through, and what starts of rays count of it at a nearness, change from a pixel to the next in a direction.
vec3 view_change(ivec2 at, vec2 to, vec3 start, float nearness) {
    vec2 place = view_of_eye(at);
    return 0.5 * (view_near(place + to) - view_near(place - to)) + nearness * start;
}

vec3 view_right(ivec2 at, float nearness) {
    return view_change(at, vec2(1.0, 0.0), view_start_dx, nearness);
}

vec3 view_below(ivec2 at, float nearness) {
    return view_change(at, vec2(0.0, 1.0), view_start_dy, nearness);
}

float view_seam(ivec2 at) {
    return view_pair.x - float(at.x);
}

bool across_seam(float seam, vec2 offset) {
    return (offset.x > seam) != (0.0 > seam);
}
#else
uniform vec3 view_corner;   // through the centre of the upper left pixel
uniform vec3 view_dx;   // how it changes from a pixel to the next on its right
uniform vec3 view_dy;     // and to the one below

vec3 view_through(ivec2 at) {
    return view_corner + float(at.x) * view_dx + float(at.y) * view_dy;
}

// How view_through changes to a pixel's right and below, of what is at a nearness.
vec3 view_right(ivec2 at, float nearness) {
    return view_dx;
}

vec3 view_below(ivec2 at, float nearness) {
    return view_dy;
}

// x of the place between the pixels of both eyes, from a pixel; whether an offset from there leads to the other eye's.
float view_seam(ivec2 at) {
    return 0.0;
}

bool across_seam(float seam, vec2 offset) {
    return false;
}
#endif

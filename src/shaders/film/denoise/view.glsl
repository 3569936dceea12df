// The view of a picture's pixels, in world space: what lies at depth d along the view's axis is at eye + d view_through.
uniform vec3 view_corner;   // through the centre of the upper left pixel
uniform vec3 view_across;   // how it changes from a pixel to the next on its right
uniform vec3 view_down;     // and to the one below

vec3 view_through(ivec2 at) {
    return view_corner + float(at.x) * view_across + float(at.y) * view_down;
}

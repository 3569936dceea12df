// Traversal of a bounding volume hierarchy with a stack, for programs that take a ray to its hit in one pass. Both
// children's boxes lie together; the nearer child comes first, the other waits on the stack.
// A reference is 8 * a pair's number, or for a leaf -(8 * its first triangle + triangles), of which it has 1 to 8.
//
// A step is straight-line code with one pop and one push: SIMD machines that execute both sides of every branch then
// touch the stack only twice a step (on llvmpipe a fifth less time). Entries above the top of the stack are undefined.
// The top stays within the array for finished rays, too: a driver may run them along. Drivers that cannot store at each
// pixel's own index use octants (Device.array_stores).
#include "interface/accel.glsl"
#include "lib/direction.glsl"
#include "lib/box.glsl"

int bvh_stack[BVH_DEPTH];
int bvh_top = 0;
#ifdef HAVE_MOVING_BOXES
#include "lib/moving_box.glsl"

// A pair with its boxes at the time of a ray.
BvhPair bvh_pair_at(Ray ray, int number) {
    int next_number;
    float fraction;
    BvhPair pair = fetch_bvh_pairs(box_before(moment_of(ray), number, bvh_keys, next_number, fraction)), next = fetch_bvh_pairs(next_number);
    pair.x += fraction * (next.x - pair.x);
    pair.y += fraction * (next.y - pair.y);
    pair.z += fraction * (next.z - pair.z);
    return pair;
}
#else
BvhPair bvh_pair_at(Ray ray, int number) {
    return fetch_bvh_pairs(number);
}
#endif

// Begins at the root of an object's tree; false where it has none.
bool accel_start(Ray ray, int object, out Traversal traversal) {
    BvhRoot root = bvh_root(object);
    traversal = Traversal(1.0 / nonzero(ray.direction), 8 * root.root - root.count, 0);
    bvh_top = 0;
    return root.count >= 0;
}

bool accel_ends(Traversal traversal, float nearest) {
    return bvh_top == 0;
}

// Takes the next reference: a pair's nearer child follows, the other one is pushed; a leaf is tested.
int accel_step(Ray ray, float nearest, inout Traversal traversal) {
    bool pops = traversal.node == BVH_POP;
    bvh_top = max(bvh_top - int(pops), 0);
    int reference = pops ? bvh_stack[bvh_top] : traversal.node;
    bool is_inner = reference >= 0;
    BvhPair pair = bvh_pair_at(ray, max(reference, 0) >> 3);
    vec4 spans = box_intervals(pair.x, pair.y, pair.z, ray.origin, traversal.inverse, nearest);
    bool meets_first = spans.x <= spans.z, meets_second = spans.y <= spans.w;
    bool second_is_nearer = meets_second && (!meets_first || spans.y < spans.x);
    ivec2 references = 8 * pair.child - pair.count;
    bvh_stack[bvh_top] = second_is_nearer ? references.x : references.y;
    bvh_top += int(is_inner && meets_first && meets_second);
    if (is_inner) reference = second_is_nearer ? references.y : meets_first ? references.x : BVH_POP;
    bool is_leaf = reference < 0;
    traversal.node = is_leaf ? BVH_POP : reference;
    traversal.leaf = -1 - reference;
    return is_leaf ? ACCEL_TEST : reference == BVH_POP && bvh_top == 0 ? ACCEL_END : ACCEL_AGAIN;
}

// The first triangle of the leaf, which is left with the others: 8 (first + 1) + (triangles - 1) - 1.
int accel_candidate(inout Traversal traversal) {
    int address = traversal.leaf >> 3;
    traversal.leaf += 7;
    return address;
}

bool accel_more(Traversal traversal) {
    return (traversal.leaf & 7) != 7;
}

// The walk through a bounding volume hierarchy with a stack of its own: for programs that take a ray to its hit in one
// pass. Both children's boxes lie together, the nearer child comes first, the other waits on the stack.
// A reference is a pair's number, or for a leaf -(8 * first triangle + triangles).
#include "interface/accel.glsl"
#include "lib/direction.glsl"
#include "lib/box.glsl"

int bvh_stack[BVH_DEPTH];
int bvh_top = 0;

int bvh_pop() {
    return bvh_top > 0 ? bvh_stack[--bvh_top] : BVH_END;
}

int bvh_reference(int child, int count) {
    return count > 0 ? -8 * child - count : child;
}

bool accel_enter(Ray ray, int object, out Walk walk) {
    BvhRoot start = bvh_root(object);
    walk = Walk(1.0 / nonzero(ray.direction), bvh_reference(start.root, start.count), 0, 0);
    bvh_top = 0;
    return true;
}

bool accel_ends(Walk walk, float nearest) {
    return walk.node == BVH_END;
}

int accel_step(Ray ray, float nearest, inout Walk walk) {
    int next = walk.node;
    if (next >= 0) {
        if (next == BVH_END) return ACCEL_END;  // a tree without triangles
        BvhPair pair = fetch_bvh_pairs(next);
        vec2 first = box_interval(pair.low_first, pair.high_first, ray.origin, walk.inverse, nearest);
        vec2 second = box_interval(pair.low_second, pair.high_second, ray.origin, walk.inverse, nearest);
        bool in_first = first.x <= first.y, in_second = second.x <= second.y;
        int to_first = bvh_reference(pair.child.x, pair.count.x);
        int to_second = bvh_reference(pair.child.y, pair.count.y);
        if (in_first && in_second) {
            bool swapped = second.x < first.x;
            bvh_stack[bvh_top++] = swapped ? to_first : to_second;
            next = swapped ? to_second : to_first;
        } else {
            next = in_first ? to_first : in_second ? to_second : bvh_pop();
        }
    }
    if (next >= 0) {
        walk.node = next;
        return next == BVH_END ? ACCEL_END : ACCEL_AGAIN;
    }
    int leaf = -1 - next;
    walk.candidate = leaf >> 3;
    walk.stop = walk.candidate + (leaf & 7) + 1;
    walk.node = bvh_pop();
    return ACCEL_TEST;
}

int accel_candidate(inout Walk walk) {
    return walk.candidate++;
}

bool accel_more(Walk walk) {
    return walk.candidate < walk.stop;
}

// What instances provide.

// The ray in the space of an instance's object, and the object's number. The direction is not normalised, so that
// distances are those in the world.
Ray object_ray(Ray ray, int instance, out int object);

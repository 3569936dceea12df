// What a step through a structure may come to.

const int ACCEL_AGAIN = 0;  // another step is needed
const int ACCEL_TEST = 1;   // there are candidates
const int ACCEL_END = 2;    // no nearer hit can come

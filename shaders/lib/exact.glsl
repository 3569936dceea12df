// Arithmetic that is rounded just as it is written. To a compiler that takes floats for real numbers the error term of a
// sum is nothing; and outputs that are `invariant` keep those of Mesa 22 from it, but not those from 24 on, which inline
// functions later. EXACT qualifies each variable of such a computation, ROUNDED(x) surrounds each operation: together
// they are `precise` variables where GLSL has them, else products with a uniform of 1, whose value no compiler knows.
#extension GL_ARB_gpu_shader5 : enable
#if defined(GL_ARB_gpu_shader5) && !defined(WITHOUT_PRECISE)
#define EXACT precise
#define ROUNDED(x) (x)
#else
uniform float exact_one;
#define EXACT
#define ROUNDED(x) ((x) * exact_one)
#endif

// The sum of three numbers, from the left.
float exact_sum(vec3 parts) {
    EXACT float sum = ROUNDED(parts.x + parts.y);
    EXACT float all = ROUNDED(sum + parts.z);
    return all;
}

// Adds x to the sum, and what rounding loses of it to the error (Knuth 1969, volume 2, section 4.2.2).
void two_sum(inout float sum, inout float error, float x) {
    EXACT float total = ROUNDED(sum + x);
    EXACT float added = ROUNDED(total - sum);
    EXACT float kept = ROUNDED(total - added);
    EXACT float lost_of_sum = ROUNDED(sum - kept);
    EXACT float lost_of_x = ROUNDED(x - added);
    EXACT float lost = ROUNDED(lost_of_sum + lost_of_x);
    EXACT float errors = ROUNDED(error + lost);
    sum = total;
    error = errors;
}

// Adds a value to sum + compensation, with an error of a few 2^-48 of it: TwoSum, then renormalised
// (Dekker 1971).
void add_compensated(inout vec3 sum, inout vec3 compensation, vec3 value) {
    EXACT vec3 total = ROUNDED(sum + value);
    EXACT vec3 added = ROUNDED(total - sum);
    EXACT vec3 kept = ROUNDED(total - added);
    EXACT vec3 lost_of_sum = ROUNDED(sum - kept);
    EXACT vec3 lost_of_value = ROUNDED(value - added);
    EXACT vec3 lost = ROUNDED(lost_of_sum + lost_of_value);
    EXACT vec3 rest = ROUNDED(lost + compensation);
    EXACT vec3 result = ROUNDED(total + rest);
    EXACT vec3 carried = ROUNDED(result - total);
    EXACT vec3 remainder = ROUNDED(rest - carried);
    sum = result;
    compensation = remainder;
}

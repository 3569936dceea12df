// A step of an inclusive prefix sum in log4(n) passes (D. Horn, "Stream reduction operations for GPGPU applications",
// GPU Gems 2, 2005, chapter 36, who adds two elements in each of log2(n)): distance 1, 4, 16 ..
uniform int distance;

const int MAX_SUM = 1 << 24;  // sums are integers in floats; more stays here, and no step overflows

// The count of an element; 0 before the first.
int count_at(int number) { return number < 0 ? 0 : fetch_counts(number).count; }
// The sum of an element and the three before it at the distance.

Count element(int number) {
    int sum = fetch_counts(number).count + count_at(number - distance);
    return Count(min(sum + count_at(number - 2 * distance) + count_at(number - 3 * distance), MAX_SUM));
}

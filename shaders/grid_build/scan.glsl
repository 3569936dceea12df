// A step of an inclusive prefix sum in log4(n) passes (D. Horn, "Stream reduction operations for GPGPU applications",
// GPU Gems 2, 2005, chapter 36, who adds two elements in each of log2(n)): distance 1, 4, 16 ..
uniform int distance;

const int MOST = 1 << 24;  // sums are integers in floats; more stays here, and no step overflows

int before(int number) { return number < 0 ? 0 : fetch_counts(number).count; }

Count element(int number) {
    int sum = fetch_counts(number).count + before(number - distance);
    return Count(min(sum + before(number - 2 * distance) + before(number - 3 * distance), MOST));
}

// Three times an odd number and one.

int collatz_odd(inout Number number) {
    number.n = 3 * number.n + 1;
    number.steps += 1;
    number.sum = sqrt(number.sum * weight_of(number.n) + 0.5 * number.sum);
    return EXIT_EVEN;
}

// Halves an even number. Its sum of floats is sensitive to contraction and to the order of operations.

int collatz_even(inout Number number) {
    number.n /= 2;
    number.steps += 1;
    number.sum = number.sum * 0.75 + weight_of(number.n) / (1.0 + number.sum);
    return number.n == 1 ? EXIT_ONE : number.n % 2 == 0 ? EXIT_AGAIN : EXIT_ODD;
}

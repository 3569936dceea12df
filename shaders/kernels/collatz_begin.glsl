// Program of the machines' self-test: the way of a number to 1, halved where it is even, else three times it and one.

int collatz_begin(in Seed seed, out Number number) {
    number = Number(seed.n, 0, weight_of(seed.n));
    return number.n == 1 ? EXIT_ONE : number.n % 2 == 0 ? EXIT_EVEN : EXIT_ODD;
}

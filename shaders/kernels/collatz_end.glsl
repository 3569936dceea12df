// The answer: steps, the sum on the way, and where it began.

int collatz_end(in Seed seed, in Number number, out Answer answer) {
    answer = Answer(number.steps, seed.n, number.sum);
    return EXIT_DONE;
}

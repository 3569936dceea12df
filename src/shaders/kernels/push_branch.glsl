// Puts a ray of the shade tree where it waits.

int push_branch(in Branch waiting, out Branch level) {
    level = waiting;
    return EXIT_DONE;
}

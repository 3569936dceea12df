// Begins the shade tree of a sample: its root is the camera's ray, and nothing waits.

int begin_tree(out Tree tree) {
    tree = Tree(0, 0, -1);
    return EXIT_RAY;
}

// What the next picture needs of a posed vertex.

Point element(int number) {
    Vertex vertex = fetch_posed(number);
    return Point(vertex.position, vertex.normal);
}

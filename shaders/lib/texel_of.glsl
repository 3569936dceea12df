// Column and row of elements in row order.

// Of element number (0 .. 2^24) in rows of width. Vector units divide floats, integers only lane by lane. The float
// quotient is off by one at most, as OpenGL leaves its last bits open; the remainder corrects it.
ivec2 texel_of(int number, int width) {
    int row = int(float(number) / float(width));
    int column = number - row * width;
    int correction = column < 0 ? -1 : column >= width ? 1 : 0;
    return ivec2(column - correction * width, row + correction);
}

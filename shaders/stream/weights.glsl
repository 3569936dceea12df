// A float of a table for a number, of the machines' self-test.

float weight_of(int n) { return fetch_weights(n % WEIGHTS).weight; }

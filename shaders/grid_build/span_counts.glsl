// The lengths of spans, to be summed.
Count element(int number) { return Count(fetch_spans(number).count); }

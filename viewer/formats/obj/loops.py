"""The compiled scanner of OBJ."""

from __future__ import annotations

import numpy as np

from raystream.base.jit import helper
from raystream.formats.text import at_word_end, integer, number, skip_blanks, skip_word


def _words(text: bytes) -> np.ndarray:
    """Words as rows of 16 bytes, padded with zeros."""
    return np.array([list(word.ljust(16, b"\0")) for word in text.split()], np.uint8)


_SILENT = _words(
    b"g o s mg lod shadow_obj trace_obj bevel c_interp d_interp usemap maplib vp cstype deg bmat step "
    b"parm trim hole scrv sp end con ctech stech"
)
_LEFT_OUT = _words(b"curv curv2 surf call csh bsp bzp cdc cdp res")
_MATERIALS = _words(b"usemtl mtllib")


@helper
def _one_of(data, at, after, words):
    """The row of the matching word, or -1."""
    if after - at > 16:
        return -1
    for row in range(len(words)):
        k = 0
        while k < 16 and words[row, k] == (data[at + k] if at + k < after else 0):
            k += 1
        if k == 16:
            return row
    return -1


FACE, LINE, POINT = range(3)
FULL = 7  # no fault: an array is full
NOT_YET = 1 << 40  # in place of a relative index of a texture vertex or normal, of which there is none before it


@helper
def _numbers(data, at, end, values):
    """Numbers to the end of the line or a comment: (their count, the end); count -1 for anything else.

    Only the first len(values) are stored.
    """
    count = 0
    while True:
        at = skip_blanks(data, at, end)
        if at >= end or data[at] == 10 or data[at] == 35:
            return count, at
        value, after = number(data, at, end)
        if after < 0 or not at_word_end(data, after, end):
            return -1, at
        if count < len(values):
            values[count] = value
        count += 1
        at = after


@helper
def _face(data, at, end, counts, corners, filled):
    """Corners to the end of the line: (filled, end, fault)."""
    while True:
        at = skip_blanks(data, at, end)
        if at >= end or data[at] == 10 or data[at] == 35:
            return filled, at, 0
        if filled == len(corners):
            return filled, at, FULL
        for column in range(3):
            corners[filled, column] = -1
        for column in range(3):
            if column == 1 and at < end and data[at] == 47:  # v//vn
                at += 1
                continue
            if column > 0 and at_word_end(data, at, end):  # 'v/' and 'v/vt/' occur in some programs' files
                break
            value, after = integer(data, at, end)
            if after < 0:
                return filled, at, 3
            if value == 0:
                return filled, at, 4
            if value < 0:
                value += counts[column] + 1
                if value <= 0 and column > 0 and counts[column] == 0:
                    value = NOT_YET
                elif value <= 0:
                    return filled, at, 5
            corners[filled, column] = value - 1
            at = after
            if at_word_end(data, at, end):
                break
            if data[at] != 47 or column == 2:
                return filled, at, 3
            at += 1
        if not at_word_end(data, at, end):
            return filled, at, 3
        filled += 1


CORNERS = 3  # index of that array among these


def arrays():
    """The output arrays of `scan`, sized for a small file."""
    numbers = np.empty((1024, 6)), np.empty((1024, 2)), np.empty((1024, 3))
    return *numbers, np.empty((4096, 3), np.int64), np.empty((1024, 3), np.int64), np.empty((16, 4), np.int64)


def scan(data, at, vertices, texcoords, normals, corners, faces, events, counts, values):
    """Scan an OBJ file with continued lines joined, from its beginning or from where an array was full.

    data (N,) uint8. Output arrays, filled from the first row: vertices (., 6) float64: position and colour (NaN without
    one); texcoords (., 2); normals (., 3); corners (., 3) int64: numbers from 0 of vertex, texture vertex, normal (-1:
    none); faces (., 3) int64: corners of each, its byte in the file, and FACE, LINE or POINT; events (., 4) int64:
    mtllib or usemtl, its text's first byte and end, and the number of faces before it. counts (8,) int64, incremented:
    rows of each of these, ignored statements, unknown ones. values (8,) float64: scratch. Returns the number of a fault
    or 0 or FULL, and its byte.
    """
    end = len(data)
    fault = 0
    while at < end:
        begin = at
        if (
            counts[0] == len(vertices)
            or counts[1] == len(texcoords)
            or counts[2] == len(normals)
            or counts[4] == len(faces)
            or counts[5] == len(events)
        ):
            return FULL, begin
        at = skip_blanks(data, at, end)
        if at >= end:
            break
        if data[at] == 10:
            at += 1
            continue
        after = skip_word(data, at, end)
        length = after - at
        first = data[at]
        if first == 35:
            pass
        elif first == 118 and length == 1:  # v
            count, after = _numbers(data, after, end, values)
            if count < 3:
                fault, at = (1 if count < 0 else 2), after
                break
            shift = 1 if count == 7 else 0  # x y z w r g b
            for k in range(3):
                vertices[counts[0], k] = values[k]
                vertices[counts[0], 3 + k] = values[3 + shift + k] if count == 6 or count == 7 else np.nan
            counts[0] += 1
        elif first == 118 and length == 2 and data[at + 1] == 116:  # vt
            values[1] = 0.0
            count, after = _numbers(data, after, end, values)
            if count < 1:
                fault, at = (1 if count < 0 else 2), after
                break
            texcoords[counts[1], 0], texcoords[counts[1], 1] = values[0], values[1]
            counts[1] += 1
        elif first == 118 and length == 2 and data[at + 1] == 110:  # vn
            count, after = _numbers(data, after, end, values)
            if count < 3:
                fault, at = (1 if count < 0 else 2), after
                break
            for k in range(3):
                normals[counts[2], k] = values[k]
            counts[2] += 1
        elif (  # f, and the old fo; l; p
            (first == 102 and (length == 1 or (length == 2 and data[at + 1] == 111)))
            or (first == 108 and length == 1)
            or (first == 112 and length == 1)
        ):
            faces[counts[4], 1] = at
            faces[counts[4], 2] = FACE if first == 102 else (LINE if first == 108 else POINT)
            filled, after, fault = _face(data, after, end, counts, corners, counts[3])
            if fault:
                at = begin if fault == FULL else after
                break
            faces[counts[4], 0] = filled - counts[3]
            counts[3] = filled
            counts[4] += 1
        elif _one_of(data, at, after, _MATERIALS) >= 0:
            event = events[counts[5]]
            event[0] = 1 if first == 109 else 0
            event[1] = after
            while after < end and data[after] != 10:
                after += 1
            event[2] = after
            event[3] = counts[4]
            counts[5] += 1
        elif _one_of(data, at, after, _LEFT_OUT) >= 0:
            counts[6] += 1
        elif _one_of(data, at, after, _SILENT) < 0:
            for k in range(at, after):
                if data[k] < 32 or data[k] == 127:
                    fault = 6
            if fault:
                break
            counts[7] += 1
        at = after
        while at < end and data[at] != 10:
            at += 1
    return fault, at

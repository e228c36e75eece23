"""Bytes of text at which something can begin or end, and how to move from one to the next.

Knowing all of them beforehand, the length of every run of digits is known before it is read.
Readers keep their position in ``at``: a PLACE in the text, the MARK that is the first from there
on, the number of PAIRS read so far, and the LEAST index among them.
"""

import numpy as np

from thresher.jit import jit

NUL, TAB, NEWLINE, RETURN, SPACE, HASH, COLON, POINT = (int(byte) for byte in b"\0\t\n\r #:.")
PLACE, MARK, PAIRS, LEAST = range(4)
SPARE = 8  # entries of ``marks`` beyond one for every byte
U0, U1 = np.uint64(0), np.uint64(1)


@jit
def flag_marks(data, flags):
    """Note for every byte whether it is a mark."""
    for p in range(data.size):
        byte = data[p]
        flags[p] = (byte <= SPACE) | (byte == HASH) | (byte == POINT) | (byte == COLON)


@jit
def list_marks(flags, marks):
    """Write down the places of all marks; return how many there are.

    Every place is written down, and counted if it is a mark: there is no branch to predict.
    """
    n = U0
    eights = flags.size // 8 * 8
    for p in range(0, eights, 8):
        for k in range(8):
            place = np.uint64(p + k)
            marks[n] = place
            n += np.uint64(flags[place])
    for p in range(eights, flags.size):
        marks[n] = p
        n += np.uint64(flags[p])
    marks[n] = marks[n + U1] = flags.size - 1  # what looks beyond the end sees the last newline
    return np.int64(n)


@jit
def skip_blanks(data, at):
    """Go to the next byte that is neither space nor tab."""
    while data[at[PLACE]] == SPACE or data[at[PLACE]] == TAB:
        at[PLACE] += 1
        at[MARK] += 1


@jit
def seek_newline(data, marks, at):
    """Go to the end of the line."""
    while data[marks[at[MARK]]] != NEWLINE:
        at[MARK] += 1
    at[PLACE] = marks[at[MARK]]


@jit
def line_ends(data, place):
    """Return whether nothing more comes in this line but a comment."""
    byte = data[place]
    return byte in (NEWLINE, HASH) or (byte == RETURN and data[place + 1] == NEWLINE)


@jit
def word_ends(byte):
    """Return whether this byte ends a number or whatever else stands in a line."""
    return byte in (SPACE, NEWLINE, TAB, RETURN, HASH)


@jit
def word_end(data, marks, at):
    """Go to the mark that ends what begins here, and return its place."""
    while not word_ends(data[marks[at[MARK]]]):
        at[MARK] += 1
    return np.int64(marks[at[MARK]])


@jit
def word_or_colon_end(data, marks, at):
    """Do the same, but let a colon end it too."""
    while not word_ends(data[marks[at[MARK]]]) and data[marks[at[MARK]]] != COLON:
        at[MARK] += 1
    return np.int64(marks[at[MARK]])

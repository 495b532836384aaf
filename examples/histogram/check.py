"""Ends with 0 where counts.txt has what histogram.cu should count among N bytes."""

import sys

N = int(sys.argv[1])
state, expected = 1, [0] * 256
for _ in range(N):
    state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
    expected[state >> 24] += 1
with open("counts.txt") as file:
    counts = [int(line) for line in file]
if counts != expected:
    wrong = [value for value in range(256) if counts[value : value + 1] != [expected[value]]]
    sys.exit(f"{len(wrong)} of 256 counts are wrong, the first is that of {wrong[0]}")

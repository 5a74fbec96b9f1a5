"""Loops over records that name topics."""

from udfs.arrays.compiled import compiled
from udfs.arrays.nullable import Flags, Numbers


@compiled("void(i8[::1], i8[::1], b1[::1], i8, i8[:, ::1])", allocates=False)
def note_times(codes: Numbers, times: Numbers, is_counted: Flags, none: int, by_code: Numbers) -> None:
    """`by_code[:, code]`: how many records count, their earliest and their latest time; both begin as `none`: no
    time."""
    for number in range(codes.size):
        if not is_counted[number]:
            continue
        code, time = codes[number], times[number]
        by_code[0, code] += 1
        if time == none:
            continue
        if by_code[1, code] == none or time < by_code[1, code]:
            by_code[1, code] = time
        if by_code[2, code] == none or time > by_code[2, code]:
            by_code[2, code] = time

"""Loops over records that name topics."""

from udfs.arrays.compiled import compiled
from udfs.arrays.nullable import Numbers


@compiled("void(i8[:, ::1], i8, i8[:, ::1])", allocates=False)
def note_times(records: Numbers, none: int, times: Numbers) -> None:
    """`records[:, number]`: code, time, and whether the record counts. `times[:, code]`: how many count, their earliest
    and their latest time; both begin as `none`: no time."""
    for number in range(records.shape[1]):
        if not records[2, number]:
            continue
        code, time = records[0, number], records[1, number]
        times[0, code] += 1
        if time == none:
            continue
        if times[1, code] == none or time < times[1, code]:
            times[1, code] = time
        if times[2, code] == none or time > times[2, code]:
            times[2, code] = time

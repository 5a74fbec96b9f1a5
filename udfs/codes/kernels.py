"""Loops over arrays of any meaning: codes for distinct rows, and rows put in order."""

import numpy as np

from udfs.arrays.compiled import compiled
from udfs.arrays.nullable import Numbers

BLOCK = 64


@compiled("i8(i8[:, ::1], i8[::1], i8[:, ::1], i8, i8[::1])", allocates=False)
def add_codes(triples: Numbers, codes: Numbers, known: Numbers, count: int, slots: Numbers) -> int:
    """Gives each distinct triple of numbers a code, in the order in which they first appear, and returns how many
    there are then. `known[:, code]`: its triple. `slots`: a hash table of codes with linear probing; its size is a
    power of two, and -1 is a free place."""
    mask = slots.size - 1
    for row in range(codes.size):
        one, two, three = triples[0, row], triples[1, row], triples[2, row]
        place = one * 1_000_003 + two * 10_007 + three
        place = (place ^ (place >> 15)) & mask
        while slots[place] >= 0:
            code = slots[place]
            if known[0, code] == one and known[1, code] == two and known[2, code] == three:
                break
            place = (place + 1) & mask
        if slots[place] < 0:
            slots[place] = count
            known[0, count], known[1, count], known[2, count] = one, two, three
            count += 1
        codes[row] = slots[place]
    return count


@compiled("i8[::1](i8[::1], i8)")
def counting_order(codes: Numbers, count: int) -> Numbers:
    """The stable order of codes from 0 to `count` - 1."""
    begins = np.zeros(count + 1, np.int64)
    for code in codes:
        begins[code + 1] += 1
    for code in range(count):
        begins[code + 1] += begins[code]
    order = np.empty(codes.size, np.int64)
    for row in range(codes.size):
        order[begins[codes[row]]] = row
        begins[codes[row]] += 1
    return order


@compiled("i8[:, ::1](i8[:, ::1], i8[::1])")
def as_columns(rows: Numbers, order: Numbers) -> Numbers:
    """The rows at these positions, as columns[FIELD, number]. A block of rows at a time, which the cache holds."""
    columns = np.empty((rows.shape[1], order.size), np.int64)
    for begin in range(0, order.size, BLOCK):
        for field in range(rows.shape[1]):
            for number in range(begin, min(begin + BLOCK, order.size)):
                columns[field, number] = rows[order[number], field]
    return columns


@compiled("i8[:, ::1](i8[:, ::1], i8[::1])")
def columns_at(columns: Numbers, places: Numbers) -> Numbers:
    """columns[FIELD, number] at these places. One column at a time is copied first, in the order in which it lies in
    memory, so that the cache holds it when it is read in another order: three times as fast. What is behind the last
    place is room that nobody has used, and stays so."""
    end = 0
    for place in places:
        end = max(end, place + 1)
    column = np.empty(end, np.int64)
    values = np.empty((columns.shape[0], places.size), np.int64)
    for field in range(columns.shape[0]):
        for number in range(column.size):
            column[number] = columns[field, number]
        for number in range(places.size):
            values[field, number] = column[places[number]]
    return values

"""Keeps freed memory in the process. By default the allocator returns every large array to the system, and the kernel
must zero its pages again for the next one: a quarter of a task's time.

Arrow uses the same allocator as NumPy and Python. With separate allocators, neither could use memory that the other has
freed: a worker held a quarter more, and spent more time in the kernel."""

import ctypes
from functools import cache

import pyarrow as pa

# Of glibc's malloc.h.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
MOST_KEPT = 1 << 30
# Larger arrays are rare, and go back to the system: between them, smaller ones would leave gaps that no later large one
# fits into. The library accepts no larger number.
LARGEST_KEPT = 32 << 20


@cache
def keep_memory() -> None:
    """Where the C library has no such settings everything works as before."""
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        set_option(M_MMAP_THRESHOLD, LARGEST_KEPT)
        set_option(M_TRIM_THRESHOLD, MOST_KEPT)
        pa.set_memory_pool(pa.system_memory_pool())

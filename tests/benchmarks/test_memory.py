"""Which of a command's processes is which."""

import multiprocessing
import os
import time

from benchmarks.memory import WORKER, family, program


def test_a_process_of_the_fork_server_is_a_worker():
    process = multiprocessing.get_context("forkserver").Process(target=time.sleep, args=(60,), daemon=True)
    process.start()
    try:
        assert process.pid in family(os.getpid())
        assert program(process.pid or 0) == WORKER
        assert program(os.getpid()) == "driver"
    finally:
        process.kill()
        process.join()

"""Work on many files of a storage at once: each waits for answers there, on HDFS half a second until it is closed."""

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from jobs.storage.places.place import Place

T = TypeVar("T")
R = TypeVar("R")

# Of this process: work that may still go on when a failure has ended what waited for it.
going_on: set[Future[Any]] = set()


def done_together(root: Place, work: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Results in order; on a local disk one after the other, since nothing waits there. All of it has ended when the
    first failure is raised."""
    return begun_together(root, work, items)()


def begun_together(root: Place, work: Callable[[T], R], items: Iterable[T]) -> Callable[[], list[R]]:
    """The same, going on while the caller does something else: what comes back waits for it."""
    if not root.is_remote:
        done = list(map(work, items))
        return lambda: done
    pool = ThreadPoolExecutor(root.most_at_once, "groupscope-storage")
    begun = [pool.submit(work, item) for item in items]
    for each in begun:
        going_on.add(each)
        each.add_done_callback(going_on.discard)
    pool.shutdown(wait=False)

    def ended() -> list[R]:
        wait(begun)
        return [each.result() for each in begun]

    return ended


def wait_for_work() -> None:
    """Until nothing of this process is written any more, whatever comes of it."""
    wait(list(going_on))

"""Small trainings in one thread, which is as fast, and gives equal weights every time."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch work in one thread.

    In small steps further threads only wait, and the order in which they add changes the sum.
    """
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)

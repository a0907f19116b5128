"""The relations that the network knows by name, the same in English and Chinese."""

from functools import cache
from pathlib import Path

RELATIONS = Path(__file__).with_name("relations.txt")


@cache
def relation_names() -> list[str]:
    """Return what the numbers of the network's output layer mean, first that it is no known one."""
    return ["", *RELATIONS.read_text(encoding="utf-8").splitlines()]

"""Regular expressions that tell right answers: read as texts, and matched in bounded time.

Answer patterns come with data, so they may be hostile. They are not given to `re`, whose time can
grow exponentially: what a pattern may match is followed as sets of places in the answer, each
sub-pattern once from each place, and within a number of steps. Known are literals, classes, `.`,
groups, `|`, `? * + {m,n}` (lazy ones, too), `^ $ \\b` and `\\d \\s \\w`. A pattern of anything else
is taken as plain text.
"""

from collections.abc import Iterable, Iterator
from itertools import islice, product

from tasks.evaluation.pattern_parser import Choice, Edge, Node, One, Repeat, Series, parse

LONGEST_ANSWER = 500  # characters that a pattern is looked for in
MOST_STEPS = 300_000
MOST_READINGS = 16  # texts that one alternative is read as
_GAP = " "


def readings(pattern: str) -> tuple[str, ...]:
    """Return texts that a pattern stands for, each alternative's likeliest first.

    What may be left out is once there and once not; a gap of any characters becomes a blank.
    """
    tree = parse(pattern)
    if tree is None:
        return (pattern.strip(),)
    options = tree.options if isinstance(tree, Choice) else (tree,)
    told = (" ".join(text.split()) for option in options for text in _first_texts(option))
    return tuple(dict.fromkeys(text for text in told if text)) or (pattern.strip(),)


def holds(pattern: str, answer: str) -> bool:
    """Tell whether a pattern matches anywhere in an answer; case does not count."""
    answer = answer[:LONGEST_ANSWER]
    tree = parse(pattern)
    if tree is None:
        return pattern.strip().lower() in answer.lower()
    follower = _Follower(answer)
    return any(follower.ends(tree, start) for start in range(len(answer) + 1))


def is_whole(pattern: str, answer: str) -> bool:
    """Tell whether a pattern matches all of an answer; case does not count."""
    answer = answer[:LONGEST_ANSWER].strip()
    tree = parse(pattern)
    if tree is None:
        return pattern.strip().lower() == answer.lower()
    return len(answer) in _Follower(answer).ends(tree, 0)


def _first_texts(node: Node) -> list[str]:
    return list(islice(_texts(node), MOST_READINGS))


def _texts(node: Node) -> Iterator[str]:
    if isinstance(node, One):
        yield from node.shown
    elif isinstance(node, Choice):
        for option in node.options:
            yield from _first_texts(option)
    elif isinstance(node, Series):
        parts = product(*map(_first_texts, node.parts))
        yield from ("".join(part)[:LONGEST_ANSWER] for part in parts)
    elif isinstance(node, Repeat):
        yield from _repeated(node)
    else:
        yield ""


def _repeated(node: Repeat) -> Iterator[str]:
    anything = isinstance(node.part, One) and node.part.anything
    if anything and node.most != 1:
        yield _GAP
        return
    if node.most:
        times = max(node.least, 1)
        yield from ((text * times)[:LONGEST_ANSWER] for text in _first_texts(node.part))
    if not node.least:
        yield ""


class _Follower:
    """Follows a pattern through one text; after too many steps nothing matches any more."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: dict[tuple[int, int], frozenset[int]] = {}
        self._left = MOST_STEPS

    def ends(self, node: Node, start: int) -> frozenset[int]:
        """Return the places where what a node matches from a place may end."""
        key = (id(node), start)
        if key not in self._known:
            self._left -= 1
            found = self._ends(node, start) if self._left > 0 else ()
            self._known[key] = frozenset(found)
        return self._known[key]

    def _ends(self, node: Node, start: int) -> Iterable[int]:
        if isinstance(node, One):
            fits = start < len(self._text) and node.fits(self._text[start])
            return (start + 1,) if fits else ()
        if isinstance(node, Edge):
            return (start,) if node.lies_at(self._text, start) else ()
        if isinstance(node, Choice):
            return {end for option in node.options for end in self.ends(option, start)}
        if isinstance(node, Series):
            places: Iterable[int] = {start}
            for part in node.parts:
                places = self._after(part, places)
            return places
        return self._repeats(node, start)

    def _after(self, node: Node, places: Iterable[int]) -> set[int]:
        found: set[int] = set()
        for place in places:
            ends = self.ends(node, place)
            self._left -= len(ends)
            found |= ends
        return found

    def _repeats(self, node: Repeat, start: int) -> Iterable[int]:
        places = {start}
        for _ in range(node.least):
            places = self._after(node.part, places)
            if not places:
                return ()
        found, fresh, turns = set(places), set(places), node.least
        while fresh and self._left > 0 and (node.most is None or turns < node.most):
            fresh = self._after(node.part, fresh) - found
            found |= fresh
            turns += 1
        return found

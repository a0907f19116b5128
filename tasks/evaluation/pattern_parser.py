"""Parsing the regular expressions of answers into a small tree; what is not known is refused."""

from dataclasses import dataclass
from functools import lru_cache

LONGEST_PATTERN = 4000  # characters
DEEPEST = 12  # groups within groups
MOST_REPEATS = 100
_SHOWN = 10  # members of a class that it is read as
_NAMED = {"d": ("0", "1", "2", "3", "4", "5", "6", "7", "8", "9"), "s": (" ",), "w": ("a",)}
_PLAIN_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


class UnknownPatternError(ValueError):
    """A pattern of a kind that is not followed."""


@dataclass(frozen=True, slots=True)
class One:
    """One character: of a class, of ranges or kinds (`d`, `s`, `w`, and their opposites)."""

    ranges: tuple[tuple[str, str], ...] = ()
    kinds: str = ""
    inverted: bool = False
    anything: bool = False

    @property
    def shown(self) -> tuple[str, ...]:
        """What the character is read as."""
        if self.anything or self.inverted:
            return (".",)
        plain = [chr(c) for low, high in self.ranges for c in range(ord(low), ord(high) + 1)[:99]]
        named = [shown for kind in self.kinds for shown in _NAMED.get(kind, (".",))]
        return tuple(dict.fromkeys(plain + named))[:_SHOWN]

    def fits(self, character: str) -> bool:
        """Tell whether a character is one of these, in either case."""
        if self.anything:
            return True
        forms = {character, character.lower(), character.upper()}
        inside = any(low <= form <= high for form in forms for low, high in self.ranges)
        return (inside or any(_of_kind(character, kind) for kind in self.kinds)) != self.inverted


@dataclass(frozen=True, slots=True)
class Edge:
    """A place between characters: the text's start or end, or a word's."""

    kind: str

    def lies_at(self, text: str, place: int) -> bool:
        """Tell whether a place of a text is such an edge."""
        if self.kind == "^":
            return place == 0
        if self.kind == "$":
            return place == len(text)
        before = place > 0 and _of_kind(text[place - 1], "w")
        return before != (place < len(text) and _of_kind(text[place], "w"))


@dataclass(frozen=True, slots=True)
class Series:
    """Parts one behind another."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several."""

    options: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part several times; `most` None is as often as one likes."""

    part: "Node"
    least: int
    most: int | None


Node = One | Edge | Series | Choice | Repeat


@lru_cache(maxsize=4096)
def parse(pattern: str) -> Node | None:
    """Return a pattern's tree; None if it is too long or holds what is not known."""
    if len(pattern) > LONGEST_PATTERN:
        return None
    parser = _Parser(pattern)
    try:
        tree = parser.choice(0)
    except (UnknownPatternError, IndexError):
        return None
    return tree if parser.at == len(pattern) else None


def _of_kind(character: str, kind: str) -> bool:
    found = {
        "d": character.isdecimal(),
        "s": character.isspace(),
        "w": character.isalnum() or character == "_",
    }[kind.lower()]
    return found != kind.isupper()


class _Parser:
    def __init__(self, pattern: str) -> None:
        self.pattern, self.at = pattern, 0

    def choice(self, depth: int) -> Node:
        if depth > DEEPEST:
            raise UnknownPatternError
        options = [self._series(depth)]
        while self._peek() == "|":
            self.at += 1
            options.append(self._series(depth))
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _series(self, depth: int) -> Node:
        parts: list[Node] = []
        while self._peek() not in ("", "|", ")"):
            parts.append(self._repeated(self._atom(depth)))
        return parts[0] if len(parts) == 1 else Series(tuple(parts))

    def _atom(self, depth: int) -> Node:
        character = self._next()
        if character == "(":
            if self.pattern.startswith("?:", self.at):
                self.at += 2
            elif self._peek() == "?":
                raise UnknownPatternError
            found = self.choice(depth + 1)
            if self._next() != ")":
                raise UnknownPatternError
            return found
        if character == "[":
            return self._class()
        if character == "\\":
            return self._escaped()
        if character in "?*+":
            raise UnknownPatternError
        if character == ".":
            return One(anything=True)
        return Edge(character) if character in "^$" else One(((character, character),))

    def _escaped(self) -> Node:
        character = self._next()
        if character == "b":
            return Edge("b")
        if character.lower() in _NAMED:
            return One(kinds=character)
        return One(((_plain(character),) * 2,))

    def _class(self) -> Node:
        inverted = self._peek() == "^"
        self.at += inverted
        ranges: list[tuple[str, str]] = []
        kinds, first = "", True
        while first or self._peek() != "]":
            first = False
            low = self._member()
            if len(low) > 1:
                kinds += low[1]
            elif self._peek() == "-" and self.pattern[self.at + 1] != "]":
                self.at += 1
                high = self._member()
                if len(high) > 1 or high < low:
                    raise UnknownPatternError
                ranges.append((low, high))
            else:
                ranges.append((low, low))
        self.at += 1
        return One(tuple(ranges), kinds, inverted)

    def _member(self) -> str:
        """Return a character of a class; a kind of characters comes with its backslash."""
        character = self._next()
        if character != "\\":
            return character
        character = self._next()
        return f"\\{character}" if character.lower() in _NAMED else _plain(character)

    def _repeated(self, part: Node) -> Node:
        sign = self._peek()
        if not sign or sign not in "?*+{" or (sign == "{" and not self._is_count()):
            return part
        self.at += 1
        least, most = {"?": (0, 1), "*": (0, None), "+": (1, None)}.get(sign) or self._count()
        if self._peek() == "?":
            self.at += 1  # lazy: what can match at all stays the same
        return Repeat(part, least, most)

    def _is_count(self) -> bool:
        inside, closed, _ = self.pattern[self.at + 1 : self.at + 12].partition("}")
        return bool(closed) and inside[:1].isdecimal() and inside.replace(",", "", 1).isdecimal()

    def _count(self) -> tuple[int, int | None]:
        inside = self.pattern[self.at : self.pattern.index("}", self.at)]
        self.at += len(inside) + 1
        low, comma, high = inside.partition(",")
        least, most = int(low), int(high) if high else (None if comma else int(low))
        if max(least, most or 0) > MOST_REPEATS or (most is not None and most < least):
            raise UnknownPatternError
        return least, most

    def _peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def _next(self) -> str:
        character = self.pattern[self.at]
        self.at += 1
        return character


def _plain(character: str) -> str:
    if character.isalnum() and character not in _PLAIN_ESCAPES and character.isascii():
        raise UnknownPatternError
    return _PLAIN_ESCAPES.get(character, character)

"""Checks of a model's description of triples for omissions and additions."""

import re
from collections.abc import Sequence

from tasks.graphs.graph import Graph
from tasks.text.chinese_words import NAME_TAGS, tag_of
from tasks.text.function_words import FUNCTION_WORDS, NEGATED
from tasks.text.languages import HAN_CLASS, is_chinese, language_of
from tasks.text.sentences import sentences
from tasks.text.stems import stems_of

MOST_NEW = 1 / 3  # share of the content words that the model may add, such as verbs
_CHARACTER = re.compile(f"[{HAN_CLASS}]")


def invented(
    text: str, triples: Sequence[tuple[str, str, str]], wordings: str, graph: Graph
) -> str | None:
    """Return why a text does not describe exactly the triples; None if no problem is found.

    The text must contain every head and tail, letter for letter. A name in a sentence with other
    names must be a neighbour of one of them, or of a name in the sentence before. Besides names and
    the words of `wordings`, which are sentences for the same triples, it may have few words, and
    none that is a name, a number, a negation, or a node of the graph. A wrong relation between the
    right names is not detected.
    """
    names = sorted({name for head, _, tail in triples for name in (head, tail)}, key=len)[::-1]
    missing = [name for name in names if name not in text]
    if missing:
        return f"it does not say {missing[0]!r}"
    pattern = re.compile("|".join(map(_whole, names)))
    if problem := _unlinked(text, triples, pattern):
        return problem
    if NEGATED.search(pattern.sub(" ", text)) and not NEGATED.search(wordings):
        return "it denies something"
    known = {stem for _, _, stem in stems_of(wordings)}
    known |= {stem for triple in triples for part in triple for _, _, stem in stems_of(part)}
    rest = pattern.sub(lambda match: " " * len(match.group()), text)
    words = [
        (rest[start:end], stem)
        for start, end, stem in stems_of(rest)
        if rest[start:end].lower() not in FUNCTION_WORDS
        and not _CHARACTER.fullmatch(rest, start, end)  # 由, 所, 在: mostly function words
    ]
    new = [word for word, stem in words if stem not in known]
    for word in new:
        if any(map(str.isdigit, word)) or word[:1].isupper():
            return f"it adds {word!r}"
        if tag_of(word).startswith(NAME_TAGS) and is_chinese(word):
            return f"it adds the name {word!r}"
        if len(graph.named(word)):
            return f"it adds {word!r}, which is in the graph"
    content = len(words) + len(pattern.findall(text))
    if len(new) > MOST_NEW * content:
        return f"it adds {len(new)} words"
    return None


def _whole(name: str) -> str:
    """Return a pattern for a name that, unless Chinese, is not part of a longer word."""
    before, after = ("" if is_chinese(end) else r"\w" for end in (name[0], name[-1]))
    start = rf"(?<!{before})" if before and name[0].isalnum() else ""
    return start + re.escape(name) + (rf"(?!{after})" if after and name[-1].isalnum() else "")


def _unlinked(
    text: str, triples: Sequence[tuple[str, str, str]], names: re.Pattern[str]
) -> str | None:
    """Return a problem if a name is in a sentence without its neighbours; None without one."""
    neighbours: dict[str, set[str]] = {}
    for head, _, tail in triples:
        neighbours.setdefault(head, set()).add(tail)
        neighbours.setdefault(tail, set()).add(head)
    before: set[str] = set()
    for start, end in sentences(text, language_of(text)):
        here = set(names.findall(text[start:end]))
        if not here and not before:
            return f"it says {text[start:end][:80]!r}"
        for name in here:
            around = neighbours.get(name, set()) & (here | before)
            if not around and len(here) > 1:
                return f"it connects {name!r} with what is no neighbour"
            if not around and before and name not in before:
                return f"it connects {name!r} with what is no neighbour"
        before = here or before
    return None

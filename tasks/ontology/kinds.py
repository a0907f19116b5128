"""Recognise kinds of an ontology by the nouns with which texts say what something is."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable

from schemas.ontology import Ontology
from tasks.text.languages import is_chinese
from tasks.text.stems import stems_of

_COPULA = re.compile(
    r"\b(?:is|was|are|were|be) (?:(?:also|still|now) )?(?:an?|the|one of the) ", re.I
)
# What follows the head noun of a noun phrase.
_END = re.compile(
    r"[,;:.()\n]| (?:of|in|on|at|by|for|from|with|to|that|which|who|whose|where|and|or|as|based|"
    r"located|written|directed|known|used|made|published|released|born|founded)\b",
    re.I,
)


class KindNouns:
    """Finds the ontology's kind in a phrase or text that says what something is."""

    def __init__(self, ontology: Ontology) -> None:
        self._kinds: dict[tuple[str, ...], str] = {}
        self._chinese: dict[str, str] = {}
        self._names = {
            noun.casefold(): kind
            for kind, entry in ontology.kinds.items()
            for noun in (kind, *entry.synonyms)
        }
        for kind, entry in ontology.kinds.items():
            for noun in (kind, *entry.synonyms):
                if is_chinese(noun):
                    self._chinese[noun] = kind
                else:
                    self._kinds.setdefault(_stems(noun), kind)
        self._longest = max(map(len, self._kinds), default=0)

    def of_phrase(self, phrase: str) -> str | None:
        """Return the kind that a noun phrase ("2010 American film") names by its head noun."""
        if is_chinese(phrase):
            nouns = [noun for noun in self._chinese if phrase.endswith(noun)]
            return self._chinese[max(nouns, key=len)] if nouns else None
        stems = _stems(_END.split(phrase, maxsplit=1)[0])
        for length in range(min(self._longest, len(stems)), 0, -1):
            if kind := self._kinds.get(stems[-length:]):
                return kind
        return None

    def of_name(self, name: str) -> str | None:
        """Return the kind that a name of several words ends in ("Harbour Film"), else None."""
        words = name.casefold().split()
        ends = (" ".join(words[at:]) for at in range(1, len(words)))
        return next((self._names[end] for end in ends if end in self._names), None)

    def of_description(self, text: str) -> str | None:
        """Return the kind that a description states ("X is a 2010 American film by …")."""
        if is_chinese(text):
            sentence = re.split(r"[。；，]", text, maxsplit=1)[0]
            return self.of_phrase(sentence)
        copula = _COPULA.search(text)
        return self.of_phrase(text[copula.end() :]) if copula else None


def class_noun(phrase: str) -> str | None:
    """Return the head noun of a class ("film" of "2010 American film by …"); None if none is."""
    if is_chinese(phrase):
        from tasks.text.chinese_words import chinese_words

        words = list(chinese_words(phrase))
    else:
        words = _END.split(phrase, maxsplit=1)[0].split()
    return (
        words[-1]
        if words and words[-1].isalpha() and words[-1].islower() | is_chinese(words[-1])
        else None
    )


def _stems(words: str) -> tuple[str, ...]:
    return tuple(stem for _, _, stem in stems_of(words))


def kinds_stated(
    ontology: Ontology, classes: Iterable[tuple[str, str]], descriptions: Iterable[tuple[str, str]]
) -> dict[str, str]:
    """Return the kind of each entity by the majority of the statements about it.

    `classes` are (entity id, class) of statements like "X is a film", `descriptions` (entity id,
    text).
    """
    nouns = KindNouns(ontology)
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for rows, read in ((classes, nouns.of_phrase), (descriptions, nouns.of_description)):
        for entity_id, words in rows:
            if kind := read(words):
                votes[entity_id][kind] += 1
    return {
        entity_id: max(sorted(kinds), key=kinds.__getitem__) for entity_id, kinds in votes.items()
    }

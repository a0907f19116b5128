"""Reads an answer out of sentences: a phrase of the kind asked for, where the question's words meet.

Sentences are joined into chains of up to three, as alignment-based retrieval does (Yadav et al.
2020): each next one speaks of something that the chain speaks of, and covers words of the question
that the chain left open.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tasks.evidence import Sentence, linked
from tasks.expectation import Expectation
from tasks.names import is_pronoun, normalise_name
from tasks.question import FUNCTION_WORDS, LinkedName
from tasks.stems import stem, stems_of

HOP_DISCOUNT = 0.8  # what a further sentence covers counts less with every hop
LONGEST_CHAIN = 3
NEAR = 8.0  # words: a match this far from the phrase counts half
MAX_PHRASE = 120  # characters


@dataclass(frozen=True)
class Asked:
    """A question prepared for reading: its words with their weights, its names, what it asks."""

    text: str
    expectation: Expectation
    terms: dict[str, float]
    names: list[LinkedName]

    @property
    def weight(self) -> float:
        """The weight of all its words."""
        return sum(self.terms.values()) or 1.0


@dataclass(frozen=True, slots=True)
class Phrase:
    """A stretch of a sentence that may be the answer, and how well its kind fits, 0 to 1."""

    text: str
    start: int
    end: int
    fit: float


@dataclass(frozen=True, slots=True)
class Reading:
    """A possible answer with the sentences it rests on, the one that states it first."""

    phrase: Phrase
    chain: tuple[Sentence, ...]
    coverage: float
    nearness: float
    stated: float

    @property
    def score(self) -> float:
        """How good it is, 0 to 1; the weights were chosen on the examples and on HotpotQA."""
        parts = (0.4 * self.coverage, 0.2 * self.nearness, 0.2 * self.stated, 0.2 * self.phrase.fit)
        return sum(parts)


def prepare(
    question: str,
    expectation: Expectation,
    names: list[LinkedName],
    rarity: Callable[[str], float],
) -> Asked:
    """Return the question with the words that an answer's evidence must speak of."""
    function = {stem(word) for word in FUNCTION_WORDS}
    terms: dict[str, float] = {}
    for start, end, word in stems_of(question):
        if word not in function and word not in _ASKING_WORDS:
            terms[word] = rarity(question[start:end])
    return Asked(question, expectation, terms, names)


_ASKING_WORDS = frozenset(
    [
        "year",
        "date",
        "哪里",
        "哪儿",
        "什么",
        "谁",
        "多少",
        "哪",
        "哪一年",
        "哪年",
        "是",
        "的",
        "在",
        "于",
        "了",
        "吗",
        "和",
        "与",
        "何时",
        "何处",
        "什么时候",
        "几",
        "一",
        "哪个",
        "位",
        "年",
        "名",
        "叫",
        "曾",
        "被",
        "由",
        "有",
    ]
)


def read(
    asked: Asked, found: list[Sentence], kind_of: Callable[[int], str], limit: int = 5
) -> list[Reading]:
    """Return the best readings, best first, one a phrase."""
    covered = [_covered(asked, sentence) for sentence in found]
    best: dict[str, Reading] = {}
    for place, sentence in enumerate(found):
        phrases = list(_phrases(asked, sentence, kind_of))
        if not phrases:
            continue
        chain, coverage = _chain(asked, place, found, covered)
        for phrase in phrases:
            reading = Reading(
                phrase,
                chain,
                coverage,
                _nearness(asked, sentence, phrase),
                _stated(asked, sentence, phrase),
            )
            key = normalise_name(phrase.text)
            if key not in best or reading.score > best[key].score:
                best[key] = reading
    return sorted(best.values(), key=lambda r: (-r.score, r.phrase.text))[:limit]


def _covered(asked: Asked, sentence: Sentence) -> frozenset[str]:
    return frozenset(asked.terms) & (sentence.stems | sentence.title_stems)


def _chain(
    asked: Asked, first: int, found: list[Sentence], covered: list[frozenset[str]]
) -> tuple[tuple[Sentence, ...], float]:
    """Add linked sentences while they cover open words; return the chain and its coverage."""
    chain, seen = [first], set(covered[first])
    coverage = sum(asked.terms[word] for word in seen)
    for hop in range(1, LONGEST_CHAIN):
        gains = [
            (sum(asked.terms[word] for word in covered[place] - seen), -place)
            for place, sentence in enumerate(found)
            if place not in chain and any(linked(found[member], sentence) for member in chain)
        ]
        gain, place = max(gains, default=(0.0, 0))
        if gain <= 0:
            break
        chain.append(-place)
        seen |= covered[-place]
        coverage += HOP_DISCOUNT**hop * gain
    return tuple(found[place] for place in chain), coverage / asked.weight


def _phrases(asked: Asked, sentence: Sentence, kind_of: Callable[[int], str]) -> Iterator[Phrase]:
    """Yield what in a sentence has the form asked for and does not stand in the question."""
    form = asked.expectation.form
    makers = {"date": _dates, "number": _numbers}
    candidates = makers[form](asked, sentence) if form in makers else ()
    if form == "name":
        candidates = _names(asked, sentence, kind_of)
    for phrase in candidates:
        words = {word for _, _, word in stems_of(phrase.text)}
        if words and len(phrase.text) <= MAX_PHRASE and not words <= set(asked.terms):
            yield phrase


def _dates(asked: Asked, sentence: Sentence) -> Iterator[Phrase]:
    for start, end, value in sentence.values:
        if value.is_date:
            yield Phrase(sentence.text[start:end], start, end, 1.0)


def _numbers(asked: Asked, sentence: Sentence) -> Iterator[Phrase]:
    """Yield numbers; where things are counted, those that count the thing asked for."""
    noun = asked.expectation.noun
    for start, end, value in sentence.values:
        if value.value_type not in ("number", "quantity"):
            continue
        after = [word for place, _, word in sentence.words if start <= place][:5]
        if not noun or noun in after:
            measured = 1.0 if noun or value.unit else 0.7
            yield Phrase(sentence.text[start:end].strip(), start, end, measured)


def _names(asked: Asked, sentence: Sentence, kind_of: Callable[[int], str]) -> Iterator[Phrase]:
    kinds = asked.expectation.kinds
    own = {normalise_name(name.text) for name in asked.names}
    for name in sentence.names:
        if normalise_name(name.text) in own:
            continue
        kind = kind_of(name.bearers[0].entity)
        fit = 1.0 if not kinds or kind in kinds else 0.6 if kind == "unknown" else 0.0
        if fit:
            yield Phrase(name.text, name.start, name.end, fit)
    if not kinds:
        for fact in sentence.facts:
            for end_name in ("tail", "head"):
                text = fact[end_name]
                place = sentence.text.find(text)
                if place >= 0 and not is_pronoun(text, sentence.language):
                    yield Phrase(text, place, place + len(text), 0.7)


def _nearness(asked: Asked, sentence: Sentence, phrase: Phrase) -> float:
    """Return how near the question's words stand to the phrase, weighted, 0 to 1."""
    before = [place for place, (start, _, _) in enumerate(sentence.words) if start >= phrase.start]
    here = before[0] if before else len(sentence.words)
    best: dict[str, float] = {word: 0.5 for word in sentence.title_stems if word in asked.terms}
    for place, (_, _, word) in enumerate(sentence.words):
        if word in asked.terms:
            best[word] = max(best.get(word, 0.0), NEAR / (NEAR + abs(place - here)))
    return sum(asked.terms[word] * near for word, near in best.items()) / asked.weight


def _stated(asked: Asked, sentence: Sentence, phrase: Phrase) -> float:
    """Return how much of the question the other parts of a fact with this phrase say, 0 to 1."""
    best = 0.0
    key = normalise_name(phrase.text)
    for fact in sentence.facts:
        for mine, other in (("tail", "head"), ("head", "tail")):
            if phrase.text in fact[mine] or normalise_name(fact[mine]) == key:
                said = {w for _, _, w in stems_of(f"{fact[other]} {fact['relation']}")}
                weight = sum(asked.terms[word] for word in said if word in asked.terms)
                best = max(best, weight / asked.weight)
    return best

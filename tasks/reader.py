"""Reads an answer out of sentences: a phrase of the form asked for, near the question's words.

A sentence that leaves words of the question open is helped by others, as in alignment-based
retrieval (Yadav et al. 2020): each speaks of something the first is about, and has the open words
near the place where it speaks of it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from tasks.evidence import Sentence
from tasks.expectation import Expectation
from tasks.names import normalise_name
from tasks.phrases import Phrase, phrases_in
from tasks.question import FUNCTION_WORDS, LinkedName
from tasks.stems import stem, stems_of

HOP_DISCOUNT = 0.85  # what a further sentence says counts less with every hop
LONGEST_CHAIN = 3
NEAR = 8.0  # words: a match this far from the phrase counts half
TITLE_NEAR = 0.6  # how near the words of its document's title count to stand
PRONOUN_NEAR = 0.5  # the same where a sentence of the document speaks of its subject unnamed


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
class Reading:
    """A possible answer with the sentences it rests on, the one that states it first.

    coverage: weighted share of the question's words that the chain has, wherever.
    nearness: the same, each by how near it stands to the phrase, or to what joins the sentences.
    stated: share that the other parts of a fact with this phrase say.
    likeness: cosine of the question's and the sentence's meanings, 0 without an encoder.
    """

    phrase: Phrase
    chain: tuple[Sentence, ...]
    coverage: float
    nearness: float
    stated: float
    likeness: float

    @property
    def score(self) -> float:
        """How good it is, about 0 to 1."""
        return (
            0.25 * self.coverage
            + 0.35 * self.nearness
            + 0.15 * self.stated
            + 0.15 * self.phrase.fit
            + 0.1 * self.likeness
        )


@cache
def _function_stems() -> frozenset[str]:
    return frozenset(map(stem, FUNCTION_WORDS)) | frozenset(_CHINESE_FUNCTION_WORDS.split())


_CHINESE_FUNCTION_WORDS = (
    "哪里 哪儿 什么 谁 多少 哪 哪一年 哪年 是 的 在 于 了 吗 和 与 何时 何处 什么时候 几 一 哪个 位 "
    "年 名 叫 曾 被 由 有"
)


def prepare(
    question: str,
    expectation: Expectation,
    names: list[LinkedName],
    rarity: Callable[[str], float],
) -> Asked:
    """Return the question with the words that an answer's evidence must speak of."""
    left_out = _function_stems() | ({"year", "date"} if expectation.form == "date" else set())
    terms = {
        word: rarity(question[start:end])
        for start, end, word in stems_of(question)
        if word not in left_out
    }
    return Asked(question, expectation, terms, names)


def read(
    asked: Asked, found: list[Sentence], kind_of: Callable[[int], str], limit: int = 20
) -> list[Reading]:
    """Return the best readings, best first, one a phrase."""
    best: dict[str, Reading] = {}
    for sentence in found:
        for phrase in phrases_in(sentence, asked.expectation, set(asked.terms), kind_of):
            reading = _reading(asked, sentence, phrase, found)
            key = normalise_name(phrase.text)
            if key not in best or reading.score > best[key].score:
                best[key] = reading
    return sorted(best.values(), key=lambda r: (-r.score, r.phrase.text))[:limit]


def _reading(asked: Asked, sentence: Sentence, phrase: Phrase, found: list[Sentence]) -> Reading:
    near = _near(asked, sentence, phrase.start)
    chain, helped = [sentence], dict(near)
    for hop in range(1, LONGEST_CHAIN):
        gain, chosen, more = _best_helper(asked, chain, helped, found, HOP_DISCOUNT**hop)
        if chosen is None or gain <= 0:
            break
        chain.append(chosen)
        helped |= more
    said = set().union(*(s.stems | s.title_stems for s in chain)) & set(asked.terms)
    return Reading(
        phrase,
        tuple(chain),
        sum(asked.terms[word] for word in said) / asked.weight,
        sum(asked.terms[word] * value for word, value in helped.items()) / asked.weight,
        _stated(asked, sentence, phrase),
        sentence.likeness,
    )


def _best_helper(
    asked: Asked,
    chain: list[Sentence],
    helped: dict[str, float],
    found: list[Sentence],
    discount: float,
) -> tuple[float, Sentence | None, dict[str, float]]:
    """Return the sentence that says most of what the chain leaves open, and what it adds."""
    best: tuple[float, Sentence | None, dict[str, float]] = (0.0, None, {})
    for sentence in found:
        if sentence in chain:
            continue
        more: dict[str, float] = {}
        for place in _joints(chain, sentence):
            known = PRONOUN_NEAR if place is None else 1.0
            near = _near(asked, sentence, sentence.words[0][0] if place is None else place)
            for word, value in near.items():
                value *= known * discount
                if value > max(helped.get(word, 0.0), more.get(word, 0.0)):
                    more[word] = value
        gain = sum(asked.terms[w] * (v - helped.get(w, 0.0)) for w, v in more.items())
        if gain > best[0]:
            best = (gain, sentence, more)
    return best


def _joints(chain: list[Sentence], sentence: Sentence) -> list[int | None]:
    """Return where a sentence speaks of what the chain is about; None: of it, but not by name."""
    joints: list[int | None] = []
    for member in chain:
        if member.document_id == sentence.document_id:
            joints.append(None)
        joints += [n.start for n in sentence.names if normalise_name(n.text) == member.title_key]
        if any(normalise_name(name.text) == sentence.title_key for name in member.names):
            joints.append(None)
    return joints


def _near(asked: Asked, sentence: Sentence, position: int) -> dict[str, float]:
    """Return for each word of the question in a sentence how near the position it stands."""
    here = sum(start < position for start, _, _ in sentence.words)
    near = {word: TITLE_NEAR for word in sentence.title_stems if word in asked.terms}
    for place, (_, _, word) in enumerate(sentence.words):
        if word in asked.terms:
            near[word] = max(near.get(word, 0.0), NEAR / (NEAR + abs(place - here)))
    return near


def _stated(asked: Asked, sentence: Sentence, phrase: Phrase) -> float:
    best = 0.0
    key = normalise_name(phrase.text)
    for fact in sentence.facts:
        for mine, other in (("tail", "head"), ("head", "tail")):
            if phrase.text in fact[mine] or normalise_name(fact[mine]) == key:
                said = {word for _, _, word in stems_of(f"{fact[other]} {fact['relation']}")}
                weight = sum(asked.terms[word] for word in said if word in asked.terms)
                best = max(best, weight / asked.weight)
    return best

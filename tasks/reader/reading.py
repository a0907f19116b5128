"""Reads an answer from sentences: a phrase of the expected form near the question's words.

If a sentence leaves words of the question uncovered, other sentences help, as in alignment-based
retrieval (Yadav et al. 2020): each mentions something that the first is about, and has uncovered
words near that mention.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

from schemas.answers import Evidence
from tasks.programs.program_run import ProgramRun
from tasks.reader.phrases import Entities, Phrase, phrases_in
from tasks.reader.sentence import Sentence
from tasks.retrieval.linked_names import LinkedName
from tasks.text.expected_answer import ExpectedAnswer
from tasks.text.names import normalise_name
from tasks.text.question import FUNCTION_WORDS, Question
from tasks.text.stems import stem, stems_of

HOP_DISCOUNT = 0.85  # weight of a further sentence, per hop
LONGEST_CHAIN = 3  # sentences that may cover a question together
NEAR = 8.0  # words between a match and the phrase at which the match counts half
TITLE_NEAR = 0.7  # nearness of the words in the title of the sentence's document
PRONOUN_NEAR = 0.4  # nearness if a sentence refers to its subject without naming it
# Close to the best fit on the questions of examples/ and of HotpotQA, by the first-ranked phrase.
WEIGHTS = (0.2, 0.22, 0.1, 0.14, 0.12, 0.22)
ROUNDING = 1e-6  # sums that differ by less are equal
RIGHT_KIND = 0.7  # fit below which a name is of another kind than expected
COVERED_NEAR = 0.15  # least nearness, after hop discounts, of a word that is covered
NOUN = 0.5  # weight of the expected noun, which the kind of the name expresses already
FOCUS = 2.0  # weight of the words that say what is asked
# An answer needs this score, and its sentences must cover this share of the question's words.
ENOUGH_SCORE, ENOUGH_COVERAGE = 0.53, 0.64
ENOUGH_FOR_PART = 0.4  # score needed on one side of a comparison, whose question is generated
_OWNS = re.compile(r"\w{0,2}(?:['’]s?\s|的)|['’]?s\s")
_RELATION = re.compile(r"\b(?:what|who|which)\s+(?:is|was|are|were)\b|'s\s", re.I)
_FIGURE = re.compile(r"\d+")
_CHINESE_ASKING = re.compile("是?(?:谁|哪|什么|多少|何时|何地|何处|几)")
_CHINESE_FUNCTION_WORDS = (
    "哪里 哪儿 什么 谁 多少 哪 哪一年 哪年 是 的 在 于 了 吗 和 与 何时 何处 什么时候 几 一 "
    "哪个 位 年 名 叫 曾 被 由 有"
)


@dataclass(frozen=True)
class WeightedQuestion:
    """A question with the words that an answer's sentences must cover.

    terms: the stems of its words with their weights. pairs: adjacent stems outside names. names:
    the stems of each name and the entities that bear it. owned: stems of things that belong to a
    name (`Newton's dog`), with the stems of that name. figures: its numbers. chain: how many
    sentences may be combined.
    """

    question: Question
    expected: ExpectedAnswer
    terms: dict[str, float]
    pairs: list[tuple[str, str]]
    names: list[tuple[frozenset[str], frozenset[int]]]
    owned: dict[str, frozenset[str]]
    figures: frozenset[str]
    chain: int

    @property
    def asks_relation(self) -> bool:
        """Whether its noun is a relation (`what is the capital`), not a kind (`which country`)."""
        return bool(_RELATION.search(self.question.text))

    @property
    def weight(self) -> float:
        """The weight of all its words."""
        return sum(self.terms.values()) or 1.0


@dataclass(frozen=True, slots=True)
class Reading:
    """A candidate answer with the sentences that support it; the first states it.

    coverage: weighted share of the question's words that the chain covers.
    nearness: the same, with each word weighted by its nearness to the phrase or to the mention that
    joins the sentences.
    stated: share that the other parts of a triple with this phrase cover.
    local: coverage by the first sentence and its title alone.
    cohesion: how close adjacent words of the question stand in the sentence.
    """

    phrase: Phrase
    chain: tuple[Sentence, ...]
    coverage: float
    nearness: float
    stated: float
    local: float
    cohesion: float

    @property
    def features(self) -> tuple[float, ...]:
        """The features behind its score, in the order of `WEIGHTS`."""
        return (
            self.coverage,
            self.nearness,
            self.stated**2,  # a triple that covers half of the question is weak evidence
            self.local,
            self.cohesion,
            self.phrase.fit,
        )

    @property
    def score(self) -> float:
        """How good it is, about 0 to 1."""
        return sum(weight * value for weight, value in zip(WEIGHTS, self.features, strict=True))

    @property
    def is_enough(self) -> bool:
        """Whether it is good enough to be an answer."""
        return self.score >= ENOUGH_SCORE and self.coverage >= ENOUGH_COVERAGE


@dataclass(frozen=True, slots=True)
class ReaderAnswer:
    """A reader's answers, best first, with their evidence.

    Without answers, evidence is what comes nearest. `probability` is how likely the first answer is
    right, None if the reader cannot tell. `programs` and their `runs` retrieved what the knowledge
    reader read.
    """

    answers: list[str] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    programs: list[str] = field(default_factory=list)
    runs: list[ProgramRun] = field(default_factory=list)
    probability: float | None = None


@cache
def _function_stems() -> frozenset[str]:
    return frozenset(map(stem, FUNCTION_WORDS)) | frozenset(_CHINESE_FUNCTION_WORDS.split())


def weigh(
    question: Question,
    expected: ExpectedAnswer,
    names: Sequence[LinkedName],
    rarity: Callable[[str], float],
    chain: int = LONGEST_CHAIN,
) -> WeightedQuestion:
    """Return the question with each word weighted by its rarity and by the expected answer."""
    text = question.text
    left_out = _function_stems() | ({"year", "date"} if expected.form == "date" else set())
    words = [word for word in stems_of(text) if word[2] not in left_out]
    terms = {word: rarity(text[start:end]) for start, end, word in words}
    if expected.noun in terms and expected.kinds:
        terms[expected.noun] *= NOUN
    focus = _chinese_focus(text)
    for start, _, word in words:
        if start in focus:
            terms[word] *= FOCUS
    pairs = [
        (left[2], right[2])
        for left, right in pairwise(words)
        if not any(name.start <= left[0] and right[1] <= name.end for name in names)
    ]
    stems = [
        frozenset(w for start, end, w in words if name.start <= start and end <= name.end)
        for name in names
    ]
    bearers = [frozenset(bearer.entity for bearer in name.bearers) for name in names]
    owned: dict[str, frozenset[str]] = {}
    for name, owner in zip(names, stems, strict=True):
        if _OWNS.match(text, max(name.start, name.end - 2)):
            after = [word for start, _, word in words if start >= name.end]
            owned |= {word: owner for word in after[:1]}
    return WeightedQuestion(
        question,
        expected,
        terms,
        pairs,
        list(zip(stems, bearers, strict=True)),
        owned,
        frozenset(_FIGURE.findall(text)),
        chain,
    )


def _chinese_focus(text: str) -> range:
    """Return the span just before the interrogative, where Chinese says what is asked."""
    asking = _CHINESE_ASKING.search(text)
    return range(max(0, asking.start() - 6), asking.start()) if asking else range(0)


def read(
    question: WeightedQuestion, sentences: list[Sentence], entities: Entities, limit: int = 20
) -> list[Reading]:
    """Return the best readings, at most one per phrase, best first."""
    best: dict[str, Reading] = {}
    proximity = _Proximity(question)
    stems = question.terms.keys() | {word for _, _, word in stems_of(question.question.text)}
    for sentence in sentences:
        for phrase in phrases_in(sentence, question.expected, stems, entities):
            if question.figures & set(_FIGURE.findall(phrase.text)):
                continue
            reading = _reading(proximity, sentence, phrase, sentences)
            key = normalise_name(phrase.text)
            if key not in best or reading.score > best[key].score + ROUNDING:
                best[key] = reading
    # Equal scores keep the order of the sentences, however their sums were rounded.
    return sorted(best.values(), key=lambda r: -round(r.score, 6))[:limit]


class _Proximity:
    """How near the question's words are to positions in sentences, and where sentences join.

    Each value is computed once.
    """

    def __init__(self, question: WeightedQuestion) -> None:
        self.question = question
        self._near: dict[tuple[int, int], dict[str, float]] = {}
        self._joints: dict[tuple[int, int], list[int | None]] = {}

    def near(self, sentence: Sentence, position: int) -> dict[str, float]:
        key = (id(sentence), position)
        if key not in self._near:
            self._near[key] = _near(self.question, sentence, position)
        return self._near[key]

    def joints(self, chain: list[Sentence], sentence: Sentence) -> list[int | None]:
        joints: list[int | None] = []
        for member in chain:
            key = (id(member), id(sentence))
            if key not in self._joints:
                self._joints[key] = _joints(member, sentence)
            joints += self._joints[key]
        return list(dict.fromkeys(joints))


def _reading(
    proximity: _Proximity, sentence: Sentence, phrase: Phrase, sentences: list[Sentence]
) -> Reading:
    question, near = proximity.question, proximity.near(sentence, phrase.start)
    chain, helped = [sentence], dict(near)
    for hop in range(1, question.chain):
        gain, helper, more = _best_helper(proximity, chain, helped, sentences, HOP_DISCOUNT**hop)
        if helper is None or gain <= 0:
            break
        chain.append(helper)
        helped |= more
    terms, weight = question.terms, question.weight
    return Reading(
        phrase,
        tuple(chain),
        sum(terms[word] for word, value in helped.items() if value >= COVERED_NEAR) / weight,
        sum(terms[word] * value for word, value in helped.items()) / weight,
        _stated(question, sentence, phrase),
        sum(terms[word] for word in near) / weight,
        _cohesion(question, sentence),
    )


def _best_helper(
    proximity: _Proximity,
    chain: list[Sentence],
    helped: dict[str, float],
    sentences: list[Sentence],
    discount: float,
) -> tuple[float, Sentence | None, dict[str, float]]:
    """Return the gain of the sentence that adds most to the chain, the sentence, and its words.

    A statement answers by itself or not at all: it is too loosely about its entities to help.
    """
    best: tuple[float, Sentence | None, dict[str, float]] = (0.0, None, {})
    for sentence in sentences:
        if sentence in chain or sentence.is_statement:
            continue
        more: dict[str, float] = {}
        for place in proximity.joints(chain, sentence):
            known = PRONOUN_NEAR if place is None else 1.0
            near = proximity.near(sentence, sentence.words[0][0] if place is None else place)
            for word, value in near.items():
                value *= known * discount
                if value > max(helped.get(word, 0.0), more.get(word, 0.0)):
                    more[word] = value
        gain = sum(proximity.question.terms[w] * (v - helped.get(w, 0.0)) for w, v in more.items())
        if gain > best[0] + ROUNDING:
            best = (gain, sentence, more)
    return best


def _joints(member: Sentence, sentence: Sentence) -> list[int | None]:
    """Return where a sentence names what another is about; None where it refers without naming."""
    joints: list[int | None] = [
        n.start for n in sentence.names if member.is_about(normalise_name(n.text))
    ]
    if member.topic == sentence.topic or any(
        sentence.is_about(normalise_name(name.text)) for name in member.names
    ):
        joints.append(None)
    return joints


def _near(question: WeightedQuestion, sentence: Sentence, position: int) -> dict[str, float]:
    """Return the nearness to a position of each word of the question in a sentence.

    The words of a name count only together: `Space Telescope` does not match James Webb's.
    """
    here = sum(start < position for start, _, _ in sentence.words)
    near = {word: TITLE_NEAR for word in sentence.title_stems if word in question.terms}
    for place, (_, _, word) in enumerate(sentence.words):
        if word in question.terms:
            near[word] = max(near.get(word, 0.0), NEAR / (NEAR + abs(place - here)))
    for words, bearers in question.names:
        mentions = [n.start for n in sentence.names if any(b.entity in bearers for b in n.bearers)]
        if mentions:
            nearest = min(
                abs(sum(w[0] < start for w in sentence.words) - here) for start in mentions
            )
            near |= {w: max(near.get(w, 0.0), NEAR / (NEAR + nearest)) for w in words}
        elif not words <= near.keys():
            near = {word: value for word, value in near.items() if word not in words}
    for word, owner in question.owned.items():
        if not owner <= near.keys():
            near.pop(word, None)
    return near


def _cohesion(question: WeightedQuestion, sentence: Sentence) -> float:
    places: dict[str, list[int]] = {}
    for place, (_, _, word) in enumerate(sentence.words):
        places.setdefault(word, []).append(place)
    total = 0.0
    for left, right in question.pairs:
        if left in places and right in places:
            apart = min(abs(a - b) for a in places[left] for b in places[right])
            total += 2 / (1 + max(1, apart))
    return total / len(question.pairs) if question.pairs else 0.0


def _stated(question: WeightedQuestion, sentence: Sentence, phrase: Phrase) -> float:
    best = 0.0
    key = normalise_name(phrase.text)
    noun = question.expected.noun if question.expected.noun in question.terms else ""
    if noun and not question.asks_relation and phrase.fit < RIGHT_KIND:
        return 0.0
    for head, relation, tail in sentence.triples:
        for mine, other in ((tail, head), (head, tail)):
            if phrase.text in mine or normalise_name(mine) == key:
                if not sentence.stems_in(other) & question.terms.keys():
                    continue
                words = sentence.stems_in(f"{other} {relation}")
                if noun and question.asks_relation and noun not in words:
                    continue
                weight = sum(question.terms[word] for word in words if word in question.terms)
                best = max(best, weight / question.weight)
    return best

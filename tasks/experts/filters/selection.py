"""Which of the experts' texts stay: the usable, the relevant, and some of the most factual.

Relevance is CooK's section 2.2, factuality sampling its section 2.4.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from schemas.errors import UsageError
from tasks.experts.knowledge import KnowledgeText
from tasks.text.function_words import FUNCTION_WORDS
from tasks.text.question import analyse
from tasks.text.stems import stems_of, words_of

_FRAGMENT = re.compile(r"\W*[a-z]\W*")  # a letter alone, which a name or a number is not
_OFFERS = re.compile(r"\bor\b|还是|\n", re.IGNORECASE)
Encode = Callable[[list[str]], np.ndarray]


def keep_relevant(
    texts: Sequence[KnowledgeText], scores: np.ndarray, k: int | None
) -> list[KnowledgeText]:
    """Return all texts with their relevance `scores` (texts); all but the best k are dropped.

    Ties are broken in favour of the earlier text. With k None nothing is dropped. Texts that were
    dropped before are scored, but do not count towards k.
    """
    scored = [
        replace(text, relevance=float(score)) for text, score in zip(texts, scores, strict=True)
    ]
    if k is None:
        return scored
    order = sorted(range(len(scored)), key=lambda place: -scores[place])
    kept = set([place for place in order if scored[place].dropped is None][: max(0, k)])
    return [text if n in kept else text.drop("relevance") for n, text in enumerate(scored)]


def relevance(
    question: str,
    texts: Sequence[KnowledgeText],
    encode: Encode,
    fields: Mapping[str, str],
) -> np.ndarray:
    """Return the relevance (texts) of texts to a question, as float64.

    It is the mean of two cosines with the question: of what the text says beyond the words of the
    question, which an expert repeats whatever it knows; and of the field of its expert. An expert
    without a description in `fields` counts by the first alone, and what says nothing of its own
    counts 0.
    """
    asked = asked_words(question)
    own = [own_words(text.text, asked) for text in texts]
    named = list(dict.fromkeys(text.expert for text in texts if text.expert in fields))
    vectors = encode([question, *own, *(fields[expert] for expert in named)])
    likeness = cosines(vectors[0], vectors[1:])
    of_field = dict(zip(named, likeness[len(own) :], strict=True))
    return np.array(
        [
            (likeness[place] + of_field.get(text.expert, likeness[place])) / 2 if own[place] else 0
            for place, text in enumerate(texts)
        ],
        np.float64,
    )


def asked_words(question: str) -> frozenset[str]:
    """Return the stems that a question gives away, none if it offers its answers.

    It offers them as choices in lines of their own, with "or", or if it asks for yes or no.
    """
    if _OFFERS.search(question) or analyse(question).expected_answer.form == "yes":
        return frozenset()
    return words_of(question)


def own_words(text: str, asked: frozenset[str]) -> str:
    """Return the words of a text that are not asked for, without function words."""
    return " ".join(
        text[start:end]
        for start, end, word in stems_of(text)
        if word not in asked and text[start:end].lower() not in FUNCTION_WORDS
    )


def drop_unusable(
    question: str, texts: Sequence[KnowledgeText], known: Sequence[str] = ()
) -> list[KnowledgeText]:
    """Return all texts; those without words and repetitions drop.

    A text repeats another one, a `known` one, or the question, if that offers no answers and the
    text has no word of its own. If an expert wrote several texts, `agreement` is set to the
    share of them that equal this text.
    """
    asked = asked_words(question)
    keys = [_key(text.text) for text in texts]
    written = Counter(text.expert for text in texts)
    repeated = Counter((text.expert, key) for text, key in zip(texts, keys, strict=True))
    usable = []
    for text, key in zip(texts, keys, strict=True):
        if not any(map(str.isalnum, key)) or _FRAGMENT.fullmatch(text.text):
            text = text.drop("empty")
        elif asked and not own_words(text.text, asked):
            text = text.drop("repeated")
        elif written[text.expert] > 1:
            text = replace(text, agreement=repeated[text.expert, key] / written[text.expert])
        usable.append(text)
    return drop_repeated(usable, known)


def drop_repeated(texts: Sequence[KnowledgeText], known: Sequence[str] = ()) -> list[KnowledgeText]:
    """Drop texts whose words, perhaps pruned, are those of an earlier text or of a `known` one."""
    seen, checked = set(map(_key, known)), []
    for text in texts:
        key = _key(text.words)
        checked.append(text.drop("repeated") if key in seen else text)
        if text.dropped is None:
            seen.add(key)
    return checked


def _key(words: str) -> str:
    return " ".join(words.casefold().split())


def cosines(question: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return the cosine (texts) of a vector (h) with each row (texts, h), as float64."""
    question = np.nan_to_num(np.asarray(question, np.float64), posinf=0.0, neginf=0.0)
    rows = np.nan_to_num(
        np.asarray(vectors, np.float64).reshape(-1, len(question)), posinf=0.0, neginf=0.0
    )
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(question)
    products = rows @ question
    return np.divide(products, lengths, out=np.zeros(len(rows)), where=lengths > 0)


def sample_factual(
    texts: Sequence[KnowledgeText],
    keep: int,
    *,
    pool: int | None = None,
    temperature: float = 1.0,
    seed: int = 0,
    greedy: bool = False,
) -> list[KnowledgeText]:
    """Return all texts, with all but `keep` of them dropped.

    Texts outside the `pool` with the best scores (twice `keep` by default) are dropped for their
    factuality. From the pool, `keep` texts are drawn without replacement, each in proportion to
    exp(trust / `temperature`) among those left (Gumbel-top-k, Kool et al. 2019); with `greedy` the
    best are taken instead. The same seed and scores always give the same texts. Raises UsageError
    if the temperature is not above 0.
    """
    if not temperature > 0:
        raise UsageError("The temperature of factuality sampling must be above 0; use greedy.")
    standing = [place for place, text in enumerate(texts) if text.dropped is None]
    scores = np.array([texts[place].trust for place in standing])
    size = len(standing) if keep >= len(standing) else max(keep, pool or 2 * keep)
    order = np.argsort(-scores, kind="stable")[: max(0, size)]
    drawn = order
    if not greedy:
        noise = np.random.default_rng(seed).gumbel(size=len(standing))
        drawn = order[np.argsort(-(scores[order] / temperature + noise[order]), kind="stable")]
    kept = {standing[int(place)] for place in drawn[: max(0, keep)]}
    pooled = {standing[int(place)] for place in order}
    return [
        text if place in kept else text.drop("sampled" if place in pooled else "factuality")
        for place, text in enumerate(texts)
    ]

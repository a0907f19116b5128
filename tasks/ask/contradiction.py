"""Whether a claim turns what its source says into something else, seen by a few words of both.

A claim is a paraphrase, so its words may differ; but not those few that make another sentence of
the same words: "not", "may", "all", "more". Who did something to whom is not seen.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable

from tasks.text.chinese_words import STOP_WORDS
from tasks.text.function_words import (
    FUNCTION_WORDS,
    NEGATED,
    NEGATIONS,
    PREPOSITIONS,
)
from tasks.text.languages import HAN
from tasks.text.stems import stem, stems_of, words_of

CLOSE = 0.7  # share of a claim's words in its source from which it repeats rather than rephrases
REACH = 2  # words after "not", "may" or "some" that it governs

CLAUSE_ENDS = re.compile(
    r"(?<!\d)[,:]|[;()，；：（）。|\n]|\b(?:and|but|because|as|since|which|while|so)\b"
    "|因为|由于|否则|[并而]"
)
_EMPTY = frozenset(map(stem, FUNCTION_WORDS | PREPOSITIONS | NEGATIONS | {"yes"})) | STOP_WORDS

_NO_NEGATION = re.compile(
    r"\bnot (?:only|just|merely)\b|\bno (?:fewer|less|more|later|longer)\b"
    "|非常|未来|无论|不[仅但过论久断同]",
    re.IGNORECASE,
)
_CONTRAST = re.compile(
    r"\b(?:but|only|instead|rather|unlike|except|sources?)\b|而是|[只仅除]|资料|来源", re.I
)
_CONDITION = re.compile(r"\b(?:if|unless|in case)\b|如果|若|假如", re.IGNORECASE)
_DOUBT = re.compile(
    r"\b(?:may|might|could (?:be|have)|possibl[ey]|perhaps|probably|likely|seems?|appears? to"
    r"|expect(?:s|ed)?|suggest(?:s|ed)?)\b|可能|也许|或许|似乎|预计|据说|估计",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    rf"{_DOUBT.pattern}|\b(?:can|could|allowed|up to|at most|potential(?:ly)?)\b|[可能]", re.I
)
_ALL = re.compile(
    r"\b(?:all|every(?:one|body)?|each|both|none|always|entirely)\b"
    "|所有|全[部都体]|一律|总是|[都均]",
    re.IGNORECASE,
)
_SOME = re.compile(
    r"\b(?:most(?:ly)?|usually|some|several|few|sometimes|often|only)\b"
    "|[只仅]|多数|大多|大部分|通常|部分|一些|有的|有时",
    re.IGNORECASE,
)
_OPPOSITES = [
    (frozenset(map(stem, one.split())), frozenset(map(stem, other.split())))
    for one, other in (
        ("more 多", "less fewer 少"),
        ("longer 长", "shorter 短"),
        ("larger bigger greater 大", "smaller 小"),
        ("higher 高", "lower 低"),
        ("older", "younger newer"),
        ("faster 快", "slower 慢"),
        ("earlier before 早", "later after 晚"),
        ("rose increased 增加 上升", "fell decreased 减少 下降"),
        ("least 至少", "most 最多 至多"),
        ("accepted 接受", "rejected refused 拒绝"),
        ("allowed 允许", "forbidden prohibited 禁止"),
    )
]


Cues = Callable[[str], Iterable[re.Match[str]]]


def contradicts(claim: str, quoted: str, question: str) -> bool:
    """Return whether a claim turns what it repeats from its source into something else."""
    is_close = share_of(claim, f"{quoted}\n{question}") >= CLOSE
    has_contrast = bool(_CONTRAST.search(claim) or _CONTRAST.search(quoted))
    return (
        (not _CONDITION.search(claim) and _drops(quoted, claim, _negations, _negations))
        or (
            is_close
            and not has_contrast
            and _drops(claim, quoted, _negations, _negations, question)
        )
        or _drops(quoted, claim, _DOUBT.finditer, _HEDGED.finditer)
        or (bool(_ALL.search(claim)) and _drops(quoted, claim, _SOME.finditer, _SOME.finditer))
        or (is_close and _is_opposite(claim, quoted))
    )


def content(text: str) -> list[str]:
    """Return the stems of a text's words that mean something, in order, without numbers."""
    return [word for _, _, word in stems_of(text) if word not in _EMPTY and not word.isdigit()]


def states(text: str, word: str) -> bool:
    """Return whether a text has a word, or half of a Chinese one: 馆藏 is of a 图书馆."""
    if not HAN.match(word):
        return word in words_of(text)
    return 2 * sum(character in text for character in word) >= len(word)


def share_of(claim: str, text: str) -> float:
    """Return the share of a claim's words that a text has, 1 if it has none of its own."""
    words = frozenset(content(claim))
    return sum(states(text, word) for word in words) / len(words) if words else 1.0


def _negations(text: str) -> list[re.Match[str]]:
    masked = _NO_NEGATION.sub(lambda match: " " * len(match.group()), text)
    return list(NEGATED.finditer(masked))


def _drops(one: str, other: str, cues: Cues, kept: Cues, given: str = "") -> bool:
    """Return whether a text has words that a cue governs in another, and nothing like the cue."""
    if any(kept(other)):
        return False
    scopes = (CLAUSE_ENDS.split(one[cue.end() :], maxsplit=1)[0] for cue in cues(one))
    governed = Counter(word for scope in scopes for word in content(scope)[:REACH])
    free = Counter(content(one)) - governed  # words that the text also has without the cue
    return not words_of(other).isdisjoint(governed.keys() - free.keys() - words_of(given))


def _is_opposite(claim: str, quoted: str) -> bool:
    """Return whether a claim begins as its source does and has "more" where that has "less"."""
    stated, words = words_of(quoted), words_of(claim)
    turned = any(
        (words & one and stated & other and not (words & other or stated & one))
        for pair in _OPPOSITES
        for one, other in (pair, pair[::-1])
    )
    shared = [next((w for w in content(text) if w in words & stated), "")
              for text in (claim, quoted)]  # fmt: skip
    return turned and shared[0] == shared[1]

"""The usefulness of a statement: how likely it serves a reader to whom it is shown by itself.

A statement may repeat its sentence faithfully and still tell nobody anything: "we | do | this". The
weights in `usefulness.json` are fitted to judged statements by `recipes/judged_statements.py`, for
English and Chinese, as those of the confidence of triples are to judged triples.
"""

import json
import math
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tasks.extract.extracted import Extracted, Mention
from tasks.extract.rules.confidence import rarities
from tasks.text.chinese_words import tag_of
from tasks.text.names import is_pronoun

WEIGHTS = Path(__file__).with_name("usefulness.json")
CLAUSE_FEATURES = "clause_features"
"""The key under which a statement has the features of its clause until it is rated."""

_LONGEST_WORDING = 12  # characters of a predicate that may have a weight of its own
_ENDS = re.compile(r"[.!?。！？\n]")
_SENTENCE_ENDS = ".!?。！？"


def rated(extracted: Extracted, passage: Mapping[str, Any], language: str) -> Extracted:
    """Give each statement of a passage its usefulness, in the place of its clause's features."""
    for row in extracted.statements:
        values = statement_features(row, passage, language)
        del row[CLAUSE_FEATURES]
        row["usefulness"] = usefulness(values, language)
    return extracted


def statement_features(row: Mention, passage: Mapping[str, Any], language: str) -> dict[str, float]:
    """Return the features of a row of StatementMention that has those of its clause.

    `passage` is the row of its passage: text and title.
    """
    sure = min(max(row["confidence"], 0.01), 0.99)
    return {
        "log odds of the confidence": math.log(sure / (1 - sure)),
        **{f"clause {name}": value for name, value in row[CLAUSE_FEATURES].items()},
        **_of_words(row, passage["title"], _sentence(row, passage["text"]), language),
    }


def _sentence(row: Mention, text: str) -> str:
    start, end = row["span_start"], row["span_end"]
    begins = [mark.end() for mark in _ENDS.finditer(text, 0, start)]
    ends = _ENDS.search(text, end)
    return text[begins[-1] if begins else 0 : ends.end() if ends else len(text)]


def _of_words(row: Mention, title: str, sentence: str, language: str) -> dict[str, float]:
    subject, name, verb, object_ = (
        row[part] for part in ("subject", "subject_name", "predicate", "object")
    )
    length = sum(map(len, (subject, verb, object_, *row["arguments"])))
    return {
        f"polarity {row['polarity']}": 1.0,
        f"modality {row['modality']}": 1.0,
        "attributed": float(bool(row["attribution"])),
        "has a time": float(bool(row["time"])),
        "has a place": float(bool(row["place"])),
        f"arguments {min(len(row['arguments']), 3)}": 1.0,
        **_end("subject", subject, language),
        **_end("object", object_, language),
        "subject has a name": float(bool(name)),
        "subject means another name": float(bool(name) and name not in subject),
        "subject is the title": float(bool(name or subject) and (name or subject) == title),
        "subject is in the title": float(bool(subject) and subject in title),
        f"predicate {verb.lower()[:_LONGEST_WORDING]}": 1.0,
        f"predicate opens with {_first(verb, language)}": 1.0,
        "predicate length": math.log1p(len(verb)),
        "share of the sentence": min(length / max(len(sentence), 1), 1.5),
        "sentence length": math.log1p(len(sentence)),
        "sentence has no end": float(sentence.rstrip("\"'”’」』)）*_ ")[-1:] not in _SENTENCE_ENDS),
        "sentence asks": float("?" in sentence or "？" in sentence),
        "sentence has a colon": float(":" in sentence or "：" in sentence),
    }


def _end(side: str, words: str, language: str) -> dict[str, float]:
    """Return the features of a statement's subject or object."""
    if not words:
        return {f"{side} is missing": 1.0}
    rare = rarities(words)
    return {
        f"{side} is a pronoun": float(is_pronoun(words, language)),
        f"{side} opens with {_first(words, language)}": 1.0,
        f"{side} ends with {_last(words, language)}": 1.0,
        f"{side} has a capital": float(any(map(str.isupper, words[1:]))),
        f"{side} opens with a capital": float(words[0].isupper()),
        f"{side} has a digit": float(any(map(str.isdigit, words))),
        f"{side} has Latin letters": float(any(c.isascii() and c.isalpha() for c in words)),
        f"{side} has 的": float("的" in words),
        f"{side} length": math.log1p(len(words)),
        f"{side}'s rarest word": max(rare) - 6.0,
        f"{side}'s words, mean": sum(rare) / len(rare) - 6.0,
    }


def _first(words: str, language: str) -> str:
    if language == "zh":
        return tag_of(words) or words[:1]
    return words.lower().split(None, 1)[0] if words.split() else ""


def _last(words: str, language: str) -> str:
    return words[-1:] if language == "zh" else words.lower().split()[-1] if words.split() else ""


def usefulness(values: Mapping[str, float], language: str) -> float:
    """Return the probability that a statement with these features is useful, to three decimals."""
    weights = _fitted()[language]["weights"]
    total = weights["constant"] + sum(weights.get(name, 0.0) * v for name, v in values.items())
    return round(1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total)))), 3)


@cache
def _fitted() -> dict[str, Any]:
    return json.loads(WEIGHTS.read_text(encoding="utf-8"))

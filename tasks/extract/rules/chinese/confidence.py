"""The features of a Chinese triple that determine its confidence: pattern, ends and sentence.

The weights in `confidence.json` are those of a logistic regression, which
`recipes/judged_facts.py` fits to judged triples.
"""

import math
from pathlib import Path

from tasks.extract.extracted import Mention
from tasks.extract.rules.chinese.clauses import Clause
from tasks.extract.rules.chinese.tokens import SegmentedSentence, Token
from tasks.text.chinese_words import tag_of

WEIGHTS = Path(__file__).with_name("confidence.json")
NAMED = frozenset(["work", "quote", "latin", "name", "ns", "nt", "nr", "nz", "nrt", "nrfg", "j"])


def triple_features(
    pattern: str,
    row: Mention,
    text: str,
    title: str,
    sentence: SegmentedSentence | None,
    clause: Clause | None,
) -> dict[str, float]:
    """Return the features of a row of TripleMention that a pattern found in `text`."""
    tokens = sentence.tokens if sentence else []
    return {
        f"rule {pattern}": 1.0,
        f"relation {row['relation']}": 1.0,
        f"relation tag {tag_of(row['relation']) or 'none'}": 1.0,
        "relation length": math.log1p(len(row["relation"])),
        f"tail value {row['value_type']}": 1.0,
        f"modality {row['modality'] or 'asserted'}": 1.0,
        "negative": float(row["polarity"] == "negative"),
        **_end("head", row, text, title, tokens),
        **_end("tail", row, text, title, tokens),
        **_of_sentence(row, sentence, clause),
    }


def _end(side: str, row: Mention, text: str, title: str, tokens: list[Token]) -> dict[str, float]:
    name = row[side]
    start = text.find(name, row["span_start"], row["span_end"])
    end = start + len(name)
    inside = (
        [i for i, token in enumerate(tokens) if start <= token.start < end] if start >= 0 else []
    )
    own = [tokens[i] for i in inside]
    whole = bool(own) and own[0].start == start and own[-1].end == end
    before = tokens[inside[0] - 1] if inside and inside[0] else None
    after = tokens[inside[-1] + 1] if inside and inside[-1] + 1 < len(tokens) else None
    return {
        f"{side} is a {row[f'{side}_kind'] or 'phrase'}": 1.0,
        f"{side} is the subject": float(name == title),
        f"{side} stands in the sentence": float(bool(own)),
        f"{side} is cut": float(bool(own) and not whole),
        f"{side} opens with {_tag(own[0] if own else None)}": 1.0,
        f"{side} ends with {_tag(own[-1] if own else None)}": 1.0,
        f"before {side} {_tag(before)}": 1.0,
        f"after {side} {_tag(after)}": 1.0,
        f"{side} has a name": float(any(token.tag in NAMED for token in own)),
        f"{side} has a verb": float(any(token.tag[0] == "v" for token in own)),
        f"{side} has 的": float("的" in name),
        f"{side} is ASCII": float(name.isascii()),
        f"{side} has a digit": float(any(map(str.isdigit, name))),
        f"{side} is a word": float(bool(tag_of(name))),
        f"{side} length": math.log1p(len(name)),
        f"{side} words": math.log1p(len(own)),
        f"{side} stands elsewhere": math.log1p(max(text.count(name) - 1, 0)),
    }


def _of_sentence(
    row: Mention, sentence: SegmentedSentence | None, clause: Clause | None
) -> dict[str, float]:
    if sentence is None:
        return {"no sentence": 1.0}
    words = {token.text for token in sentence.tokens}
    values = {
        "sentence length": math.log1p(sentence.end - sentence.start),
        "sentence has no end": float(sentence.tokens[-1].text not in "。！？"),
        "sentence has a second person": float(not words.isdisjoint("你您")),
        "sentence has a first person": float(not words.isdisjoint(("我", "我们", "本"))),
        "sentence's breaks": math.log1p(sum(t.text in "，；：" for t in sentence.tokens)),
    }
    if clause is None:
        return values
    length = clause.end - clause.start
    stated = len(row["relation"]) + len(row["tail"]) + len(row["head"])
    return {
        **values,
        f"verb tag {tag_of(clause.verb) or 'none'}": 1.0,
        f"clause opens with {_tag(clause.tokens[0])}": 1.0,
        **{f"preposition {p.word}": 1.0 for p in clause.prepositions},
        "clause has no subject": float(not clause.subject),
        "clause has a second noun": float(bool(clause.second)),
        "clause has a time": float(bool(clause.times)),
        "clause opens the sentence": float(clause.start == sentence.start),
        "clause length": math.log1p(length),
        "clause adverbs": math.log1p(sum(t.tag == "d" for t in clause.tokens)),
        "clause verbs": math.log1p(sum(t.tag[0] == "v" for t in clause.tokens)),
        "share of the clause": min(stated / max(length, 1), 1.5),
    }


def _tag(token: Token | None) -> str:
    return "nothing" if token is None else token.text if token.tag == "x" else token.tag

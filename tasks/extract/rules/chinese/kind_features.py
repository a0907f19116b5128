"""The features of a Chinese mention that show its entity's kind: its characters and context."""

import re
from collections.abc import Sequence
from pathlib import Path

from tasks.extract.rules.chinese.lexicon import SURNAMES
from tasks.extract.rules.chinese.naming import TRANSLITERATED, clean, kind_by_ending
from tasks.extract.rules.chinese.predicates import ENDS
from tasks.extract.rules.chinese.tokens import Token, text_of
from tasks.extract.rules.guessed_kinds import writing
from tasks.text.chinese_words import HAN_OR_ZERO, tag_of
from tasks.text.english_words import is_word

WEIGHTS = Path(__file__).with_name("kind_weights.safetensors")
_AROUND = 3  # words on each side
_MIDDLE_DOT = re.compile("[·•・‧]")


def mention_features(tokens: Sequence[Token], first: int, last: int) -> dict[str, float]:
    """Return the features of the name at the tokens from `first` up to `last` of a sentence."""
    before, after = tokens[:first], tokens[last:]
    features = [
        f"before: {_at(before, -1)}",
        f"after: {_at(after, 0)}",
        f"before: {_tag(before, -1)}",
        f"after: {_tag(after, 0)}",
        f"before: {_tag(before, -2)} {_tag(before, -1)}",
        f"after: {_tag(after, 0)} {_tag(after, 1)}",
        f"before ends in {_at(before, -1)[-1:]}",
        f"after begins with {_at(after, 0)[:1]}",
        *(f"near before: {_word(token)}" for token in before[-_AROUND:]),
        *(f"near after: {_word(token)}" for token in after[:_AROUND]),
        *_predicate(tokens, first, last),
    ]
    return name_features(tokens[first:last]) | dict.fromkeys(features, 1.0)


def name_features(own: Sequence[Token]) -> dict[str, float]:
    """Return the features of a name's tokens, independent of its context."""
    name = clean(text_of(own)) or text_of(own)
    han = bool(HAN_OR_ZERO.search(name))
    script = "no Han" if not han else "mixed" if name[0].isascii() else "Han"
    features = [
        f"{min(len(name), 8)} characters, {script}",
        f"{min(len(own), 4)} words, {script}",
        f"tags {' '.join(token.tag for token in own[-3:])}",
        f"known as {tag_of(name)}",
        f"first {name[0]}",
        f"first {name[:2]}",
        f"last {name[-1]}",
        f"last {name[-2:]}",
        f"last {name[-3:]}",
        f"ending of {kind_by_ending(name)}",
    ]
    if han:
        features += [f"characters {name[at : at + 2]}" for at in range(len(name) - 1)]
        features += [f"begins as {tag_of(name[:2])}", f"ends as {tag_of(name[-2:])}"]
        features.append(f"without the first {tag_of(name[1:])}")
    else:
        words = name.lower().split()
        plain = "plain" if is_word(words[-1]) else "no plain"
        features += [f"last word {words[-1]}", f"{min(len(words), 4)} Latin words, {plain} last"]
    if HAN_OR_ZERO.match(name) and name[0] in SURNAMES:
        features.append(f"a surname of {min(len(name), 4)}")
    values = dict.fromkeys(features, 1.0) | writing(name)
    values["foreign characters"] = float(TRANSLITERATED.fullmatch(name) is not None)
    values["a middle dot"] = float(bool(_MIDDLE_DOT.search(name)))
    return {feature: value for feature, value in values.items() if value}


def _predicate(tokens: Sequence[Token], first: int, last: int) -> list[str]:
    """Return the feature of the clause's likeliest predicate and the mention's side of it."""
    start = max((i + 1 for i in range(first) if tokens[i].text in ENDS), default=0)
    end = next((i for i in range(last, len(tokens)) if tokens[i].text in ENDS), len(tokens))
    places = [i for i in (*range(start, first), *range(last, end)) if tokens[i].leads]
    best = max(places, key=lambda i: tokens[i].leads, default=None)
    if best is None:
        return []
    return [f"{'before' if best >= last else 'after'} its verb {tokens[best].text}"]


def _at(tokens: Sequence[Token], place: int) -> str:
    inside = -len(tokens) <= place < len(tokens)
    return _word(tokens[place]) if inside else "nothing"


def _tag(tokens: Sequence[Token], place: int) -> str:
    return tokens[place].tag if -len(tokens) <= place < len(tokens) else "nothing"


def _word(token: Token) -> str:
    """Return the text of a word, or its tag for names, times and numbers."""
    marked = token.tag in ("time", "number", "work", "name", "latin", "quote")
    return f"<{token.tag}>" if marked else token.text

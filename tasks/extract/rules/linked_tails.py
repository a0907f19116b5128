"""Tails that are names: which of a passage's triples end at an entity, and which at a value.

Tails come from clauses, table cells and labelled values, in English and in Chinese. Whether one is
a name is decided here alone, by its wording, its relation, and whether the rules took it for a
name; the weights in `linked_tails.json` are fitted to tails that a reader judged
(`recipes/judged_tails.py`). Where the words leave it open, the tail is an entity if the corpus has
its name elsewhere (`warehouse/sql/names.sql`).
"""

import json
import math
import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from statistics import fmean

from tasks.extract.extracted import Extracted, Mention
from tasks.extract.rules.confidence import rarities
from tasks.extract.rules.find_names import CODE, SMALL_WORDS
from tasks.extract.rules.kinds import kind_of_noun, writing
from tasks.extract.rules.lexicon import LINKS
from tasks.extract.rules.repairs import CALENDAR
from tasks.text.english_words import is_plural, is_word
from tasks.text.languages import HAN, word_set
from tasks.text.relations.vocabulary import known_relations, meaning_of, names_alias

WEIGHTS = Path(__file__).with_name("linked_tails.json")
LEAST_ODDS = 0.4
"""The logarithm of the odds of being a name from which a tail is an entity."""
LEAST_POSSIBLE = -1.7
"""That from which a clause's tail is an entity if the corpus has its name elsewhere."""
_CLASSES = frozenset(["is a", "is the", "is", "是", "就是", "即", "成为", "became"])
_PREPOSITIONS = word_set("in at by of with to for from on as")
_AGENT = re.compile(r"(?:er|or|ee|ant|ist)s?$|[者人员]$")
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]")
_MARK = re.compile(r"[A-Za-z]{1,2}[\d()]*|[A-Za-z]\(.*\)")
_MOST_WORDS = 6
_MOST_LISTED = 40
_NOTE = re.compile(r"\s*[(（][^()（）]*[)）]\s*\Z")
_SEPARATOR = re.compile(r"\s*(?:[,，](?:\s*and\s)?|[;；、/]|\s(?:and|&)\s)\s*")
_ONLY_COMMAS = re.compile(r"[^,，;；、/]+[,，][^,，;；、/]+")  # "Ottawa, Canada" is no list
_MARKUP = '[*_`(<"“'


def link_tails(extracted: Extracted, text: str, kept: frozenset[str] = frozenset()) -> Extracted:
    """Decide for each triple of a passage whether its tail is a name, and number the triples anew.

    A cell or label that lists names gives a triple for each. Cells under one label are mostly of
    one sort, so that each counts for half and all of them together for the other half. Relations
    in `kept` stay as they are.
    """
    told = [
        row["relation"] in kept or row["value_type"] not in ("entity", "text") or _is_alias(row)
        for row in extracted.triples
    ]
    columns: dict[str, list[float]] = defaultdict(list)
    for row, done in zip(extracted.triples, told, strict=True):
        if not done and _is_record(row, text):
            columns[row["relation"]].append(_odds(_without_note(row), record=True))
    triples: list[Mention] = []
    for row, done in zip(extracted.triples, told, strict=True):
        if done:
            triples.append(row)
        elif _is_record(row, text):
            triples += _of_record(row, text, fmean(columns[row["relation"]]))
        else:
            triples.append(_told(row, _odds(row, record=False), record=False))
    extracted.triples = [{**row, "ordinal": place} for place, row in enumerate(triples)]
    return extracted


def are_names(items: list[str], label: str) -> bool:
    """Return whether the items of a list are names, where `label` stands above the list."""
    row = {"relation": label, "tail_kind": "", "value_type": "text"}
    odds = [_odds({**row, "tail": item}, record=True) for item in items if item]
    return len(odds) == len(items) > 1 and fmean(odds) >= LEAST_ODDS


def _is_alias(row: Mention) -> bool:
    """Return whether a tail is another name of the head, and so no other entity."""
    return names_alias(row["relation"])


def _is_record(row: Mention, text: str) -> bool:
    """Return whether a cell or label states a triple: its place begins with the tail."""
    stated = text[row["span_start"] :].lstrip(_MARKUP)
    return stated.startswith(_without_note(row)["tail"])


def _told(row: Mention, odds: float, *, record: bool) -> Mention:
    """Return a triple with what its tail is: an entity, perhaps one, or a value."""
    named, possible = odds >= LEAST_ODDS, record or odds >= LEAST_POSSIBLE
    kind = row["tail_kind"] or "unknown"
    if record and kind == "unknown":
        kind = kind_of_noun(row["relation"].split(" ")[-1])
    return {
        **row,
        "value_type": "entity" if named else "text",
        "tail_kind": kind if named else "unknown" if possible else "",
    }


def _of_record(row: Mention, text: str, column: float) -> list[Mention]:
    """Return the triples of a cell or label: one, or one for each of the names that it lists.

    `column` is the mean of the odds of all cells with its label.
    """
    bare = _without_note(row)
    odds = (_odds(bare, record=True) + column) / 2
    if odds >= LEAST_ODDS:
        return [_told(bare, odds, record=True)]
    parts = [part for part in _SEPARATOR.split(row["tail"]) if part.strip()]
    listed = [_without_note(_narrowed(row, part, text)) for part in parts[:_MOST_LISTED]]
    each = [_told(one, _odds(one, record=True), record=True) for one in listed]
    are_all = len(each) > 1 and all(one["value_type"] == "entity" for one in each)
    return each if are_all and _is_list(row, parts) else [_told(row, odds, record=True)]


def _narrowed(row: Mention, part: str, text: str) -> Mention:
    """Return a triple with a part of its tail, and the place of that part."""
    start = text.find(part, row["span_start"], row["span_end"])
    span = {"span_start": start, "span_end": start + len(part)} if start >= 0 else {}
    return {**row, "tail": part, **span}


def _without_note(row: Mention) -> Mention:
    return {**row, "tail": _NOTE.sub("", row["tail"]) or row["tail"]}


def _is_list(row: Mention, parts: list[str]) -> bool:
    """Return whether a value may be a list: two things after a comma may be "Ottawa, Canada"."""
    label = row["relation"].split(" ")[-1]
    says_so = is_plural(label) or label.endswith("(s)")
    return says_so or not _ONLY_COMMAS.fullmatch(row["tail"]) or all(" " in part for part in parts)


def tail_features(row: Mention, *, record: bool) -> dict[str, float]:
    """Return the features of a triple's tail; `record` if a cell or label states the triple."""
    tail = row["tail"]
    named = row["value_type"] == "entity"
    where = "record" if record else "clause"
    han = HAN.search(tail) is not None
    values = _of_han(tail) if han else _of_latin(tail, where)
    script = "Han" if han else "Latin"
    return {
        f"{script}, {where}": 1.0,
        f"named, {script}, {where}": float(named),
        f"named as {row['tail_kind']}": float(named),
        **{f"{name}, {where}": value for name, value in _of_relation(row["relation"]).items()},
        **values,
    }


def _of_relation(relation: str) -> dict[str, float]:
    """Return what a relation tells of its tail: that of "author" is a name, of "is a" none."""
    last = relation.lower().split(" ")[-1]
    meaning = meaning_of(relation)
    known = known_relations()[meaning.name] if meaning else None
    return {
        "of a class": float(relation.lower() in _CLASSES),
        "another name": float(names_alias(relation)),
        "a known relation": float(known is not None and known.end == "thing"),
        f"of a {kind_of_noun(last)}": 1.0,
        "of who does something": float(bool(_AGENT.search(last))),
        "of a place or time": float(last in _PREPOSITIONS),
    }


def _of_latin(tail: str, where: str) -> dict[str, float]:
    words = [word.strip("\"'“”‘’(),.:;") for word in tail.split()]
    words = [word for word in words if word] or [tail]
    content = [w for w in words if w.lower() not in SMALL_WORDS | LINKS] or words
    capital = [w[:1].isupper() or bool(_INNER_CAPITAL.search(w)) for w in content]
    plain = [is_word(word.lower()) and not (len(word) > 1 and word.isupper()) for word in content]
    rare = rarities(tail)
    shape = "all" if all(capital) else "last" if capital[-1] else "some" if any(capital) else "no"
    number = min(len(words), _MOST_WORDS)
    return {
        f"{number} words": 1.0,
        f"{shape} capitals": 1.0,
        f"{shape} capitals, {where}": 1.0,
        f"{shape} capitals, {min(number, 3)} words": 1.0,
        f"first {capital[0]}, plain {plain[0]}": 1.0,
        f"last {capital[-1]}, plain {plain[-1]}": 1.0,
        f"all plain, {shape} capitals": float(all(plain)),
        f"no plain, {shape} capitals": float(not any(plain)),
        f"one plain word, {where}": float(len(content) == 1 and plain[0]),
        f"ends as {kind_of_noun(content[-1].lower())}, {capital[-1]}": 1.0,
        "opens with a small word": float(words[0].lower() in SMALL_WORDS),
        "rarest word": max(rare) - 6.0,
        "commonest word": min(rare) - 6.0,
        "a sentence's end": float(tail[-1] in ".!?"),
        "as code is written": float(bool(CODE.search(tail))),
        "a letter and digits": float(bool(_MARK.fullmatch(tail))),
        "a day or month": float(any(word.lower() in CALENDAR for word in words)),
        "an address": float(bool(re.search(r"[@/\\=<>{}\[\]|_]", tail))),
        "begins with a digit or sign": float(not tail[0].isalpha()),
        "a list": float(bool(re.search(r"[,;:]| and | or ", tail))),
        "length": math.log1p(len(tail)),
        **writing(tail),
    }


def _of_han(tail: str) -> dict[str, float]:
    # The Chinese engine imports what reads records, which asks for names here.
    from tasks.extract.rules.chinese.naming import is_name, kind_by_ending
    from tasks.extract.rules.chinese.tokens import read_sentences

    sentences = read_sentences(tail, ())
    tokens = [token for sentence in sentences for token in sentence.tokens]
    tags = [token.tag for token in tokens] or ["nothing"]
    return {
        f"last tag {tags[-1]}": 1.0,
        f"first tag {tags[0]}": 1.0,
        f"one word, {tags[0]}": float(len(tags) == 1),
        f"{min(len(tags), 5)} words in Han": 1.0,
        "reads as a name": float(bool(tokens) and is_name(tokens)),
        f"Han ends as {kind_by_ending(tail)}": 1.0,
        "has 的": float("的" in tail),
        "has a verb": float(any(tag[0] == "v" for tag in tags)),
        "has a name": float(any(tag in ("nr", "ns", "nt", "nz", "name", "nrt") for tag in tags)),
        "has Latin letters": float(any(c.isascii() and c.isalpha() for c in tail)),
        "has a digit": float(any(map(str.isdigit, tail))),
        "has a number": float(any(tag in ("m", "number") for tag in tags)),
        "Han length": math.log1p(len(tail)),
    }


def _odds(row: Mention, *, record: bool) -> float:
    """Return the logarithm of the odds that a triple's tail is a name."""
    weights, values = _weights(), tail_features(row, record=record)
    return weights["constant"] + sum(weights.get(name, 0.0) * v for name, v in values.items())


@cache
def _weights() -> dict[str, float]:
    return json.loads(WEIGHTS.read_text(encoding="utf-8"))

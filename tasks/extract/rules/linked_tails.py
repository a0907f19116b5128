"""Tails that are names: which of a passage's triples end at an entity, and which at a value.

Whether a tail is a name is decided here alone, for clauses, cells and labels of both languages, by
its wording, its relation, and whether the rules took it for a name; the weights are fitted to tails
that a reader judged (`recipes/judged_tails.py`). Where the words leave it open, a tail is an entity
if the corpus has its name elsewhere (`warehouse/sql/names.sql`).
"""

import math
import re
from collections import defaultdict
from pathlib import Path
from statistics import fmean

from tasks.extract.extracted import Extracted, Mention
from tasks.extract.rules.confidence import probability, rarities
from tasks.extract.rules.find_names import CODE, SMALL_WORDS
from tasks.extract.rules.kinds import kind_of_noun, writing
from tasks.extract.rules.lexicon import LINKS
from tasks.extract.rules.repairs import CALENDAR
from tasks.text.english_words import is_plural, is_word
from tasks.text.languages import HAN, word_set
from tasks.text.relations.vocabulary import known_relations, meaning_of, names_alias

WEIGHTS = Path(__file__).with_name("linked_tails.json")
LEAST_PROBABILITY = 0.6
"""The probability of being a name from which a tail is an entity."""
LEAST_POSSIBLE = 0.15
"""That from which a clause's tail is an entity if the corpus has its name elsewhere."""
_CLASSES = frozenset(["is a", "is the", "is", "是", "就是", "即", "成为", "became"])
_PREPOSITIONS = word_set("in at by of with to for from on as")
_AGENT = re.compile(r"(?:er|or|ee|ant|ist)s?$|[者人员]$")
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]")
_MARK = re.compile(r"[A-Za-z]{1,2}[\d()]*|[A-Za-z]\(.*\)")
_NOTE = re.compile(r"\s*[(（][^()（）]*[)）]\s*\Z")
_SEPARATOR = re.compile(r"\s*(?:[,，](?:\s*and\s)?|[;；、]|\s/\s)\s*")
_JOINT = re.compile(r"\s+(?:and|&)\s+(?!the\s)")
_CODE_IN_CAPITALS = re.compile("[A-Z]{2,4}")
# Labels of what is written for a thing, which is no other thing.
_SAYS_WRITING = re.compile(
    r"(?i:(?:\A|\W)(?:\w*codes?|abbreviations?|ids?|symbols?|tickers?|initials"
    r"|(?:first|last|given|family|middle|maiden|birth) names?|name (?:first|last|middle)"
    r"|(?:sur|fore)names?(?: of .*)?)|代[码號号]|编号|缩写|姓氏?)\Z"
)
_PAIR = re.compile(r"[^,，;；、/]+[,，][^,，;；、/]+")
_MARKUP = '[*_`(<"“'


def link_tails(extracted: Extracted, text: str, kept: frozenset[str] = frozenset()) -> Extracted:
    """Decide for each triple of a passage whether its tail is a name, and number the triples anew.

    A cell or label that lists names gives a triple for each. Cells under one label are mostly of
    one sort: each counts for half, and all of them together for the other half. Relations in
    `kept` stay as they are, and so do other names of the head, its codes and the parts of its name,
    which are no other entity. Nor are codes in capitals, unless the corpus has them elsewhere.
    """
    columns: dict[str, list[Mention]] = defaultdict(list)
    sorts: list[str] = []
    for row in extracted.triples:
        relation = row["relation"]
        known = relation in kept or names_alias(relation) or _SAYS_WRITING.search(relation)
        if known or row["value_type"] not in ("entity", "text"):
            sorts.append("known")
            continue
        bare = _without_note(row)
        stands_alone = text[row["span_start"] :].lstrip(_MARKUP).startswith(bare["tail"])
        sorts.append("record" if stands_alone else "clause")
        if stands_alone:
            columns[relation].append(bare)
    means = {label: _mean_likelihood(cells) for label, cells in columns.items()}
    triples: list[Mention] = []
    for row, sort in zip(extracted.triples, sorts, strict=True):
        if sort == "record":
            triples += _of_record(row, means[row["relation"]])
        else:
            triples.append(
                row if sort == "known" else _with_end(row, _likelihood(row, record=False))
            )
    extracted.triples = [{**row, "ordinal": place} for place, row in enumerate(triples)]
    return extracted


def are_names(items: list[str], label: str) -> bool:
    """Return whether the items of a list are names, where `label` stands above the list.

    Half of them must be more than common words or code: steps may have capitals, too.
    """
    row = {"relation": label, "tail_kind": "", "value_type": "text"}
    likely = [_likelihood({**row, "tail": item}, record=True) for item in items if item]
    plain = [all(is_word(word.lower()) for word in item.split()) for item in items]
    common = sum(one or bool(CODE.search(item)) for one, item in zip(plain, items, strict=True))
    named = len(likely) == len(items) > 1 and 2 * common <= len(items)
    return named and fmean(likely) >= LEAST_PROBABILITY


def _with_end(row: Mention, likely: float, *, record: bool = False) -> Mention:
    """Return a triple that says what its tail is: an entity, perhaps one, or a value."""
    named, possible = likely >= LEAST_PROBABILITY, record or likely >= LEAST_POSSIBLE
    kind = row["tail_kind"] or "unknown"
    if record and kind == "unknown":
        kind = kind_of_noun(row["relation"].split(" ")[-1])
    sort = kind if named else "unknown" if possible else ""
    return {**row, "value_type": "entity" if named else "text", "tail_kind": sort}


def _of_record(row: Mention, column: float) -> list[Mention]:
    """Return the triples of a cell or label: one, or one for each of the names that it lists.

    `column` is the mean over all cells with its label. Two words with a comma may be "Rome, Italy".
    """
    bare = _without_note(row)
    likely = (_likelihood(bare, record=True) + column) / 2
    if likely >= LEAST_PROBABILITY:
        return [_with_end(bare, likely, record=True)]
    parts = _parts(row["tail"], row["relation"].split(" ")[-1])
    listed = [_without_note({**row, "tail": part}) for part in parts]
    each = [_with_end(one, _likelihood(one, record=True), record=True) for one in listed]
    named = len(parts) > 1 and all(one["value_type"] == "entity" for one in each)
    return each if named else [_with_end(row, likely, record=True)]


def _mean_likelihood(cells: list[Mention]) -> float:
    """Return how likely the cells below a label are names; -1 for capitals of one length: SEN."""
    tails = {cell["tail"] for cell in cells}
    if len(tails) > 1 == len({*map(len, tails)}) and all(map(_CODE_IN_CAPITALS.fullmatch, tails)):
        return -1.0
    return fmean(_likelihood(cell, record=True) for cell in cells)


def _parts(tail: str, label: str) -> list[str]:
    """Return what a cell may list below the last word of its label; "Hill & Vale" is one firm."""
    *others, last = [part for part in _SEPARATOR.split(tail) if part.strip()] or [tail]
    ends = [last] if any(map(_JOINT.search, others)) else _JOINT.split(last)
    wordy = all(" " in part for part in (*others, *ends))
    lists = not _PAIR.fullmatch(tail) if others else wordy and kind_of_noun(label) == "person"
    return [*others, *ends] if lists or is_plural(label) or (others and wordy) else [tail]


def _without_note(row: Mention) -> Mention:
    return {**row, "tail": _NOTE.sub("", row["tail"]) or row["tail"]}


def tail_features(row: Mention, *, record: bool) -> dict[str, float]:
    """Return the features of a triple's tail; `record` if a cell or label states the triple."""
    tail, relation, named = row["tail"], row["relation"], row["value_type"] == "entity"
    where = "record" if record else "clause"
    script = "Han" if HAN.search(tail) else "Latin"
    last = relation.lower().split(" ")[-1]
    meaning = meaning_of(relation)
    known = meaning is not None and known_relations()[meaning.name].end == "thing"
    return {
        f"{script}, {where}": 1.0,
        f"named, {script}, {where}": float(named),
        f"named as {row['tail_kind']}": float(named),
        f"of a class, {where}": float(relation.lower() in _CLASSES),
        f"another name, {where}": float(names_alias(relation)),
        f"a known relation, {where}": float(known),
        f"of a {kind_of_noun(last)}, {where}": 1.0,
        f"of who does something, {where}": float(bool(_AGENT.search(last))),
        f"of a place or time, {where}": float(last in _PREPOSITIONS),
        **(_of_han(tail) if script == "Han" else _of_latin(tail, where)),
    }


def _of_latin(tail: str, where: str) -> dict[str, float]:
    words = [word.strip("\"'“”‘’(),.:;") for word in tail.split()]
    words = [word for word in words if word] or [tail]
    content = [w for w in words if w.lower() not in SMALL_WORDS | LINKS] or words
    capital = [w[:1].isupper() or bool(_INNER_CAPITAL.search(w)) for w in content]
    plain = [is_word(word.lower()) and not (len(word) > 1 and word.isupper()) for word in content]
    rare = rarities(tail)
    shape = "all" if all(capital) else "last" if capital[-1] else "some" if any(capital) else "no"
    return {
        f"{min(len(words), 6)} words": 1.0,
        f"{shape} capitals": 1.0,
        f"{shape} capitals, {where}": 1.0,
        f"{shape} capitals, {min(len(words), 3)} words": 1.0,
        f"first {capital[0]}, plain {plain[0]}": 1.0,
        f"last {capital[-1]}, plain {plain[-1]}": 1.0,
        f"all plain, {shape} capitals": float(all(plain)),
        f"no plain, {shape} capitals": float(not any(plain)),
        f"one plain word, {where}": float(len(content) == 1 and plain[0]),
        f"ends as {kind_of_noun(content[-1].lower())}, {capital[-1]}": 1.0,
        "rarest word": max(rare) - 6.0,
        "commonest word": min(rare) - 6.0,
        "as code is written": float(bool(CODE.search(tail))),
        "a letter and digits": float(bool(_MARK.fullmatch(tail))),
        "a day or month": float(any(word.lower() in CALENDAR for word in words)),
        "begins with a sign": float(not tail[0].isalnum()),
        "length": math.log1p(len(tail)),
        "a list": float(bool(_SEPARATOR.search(tail) or _JOINT.search(tail))),
        **writing(tail),
    }


def _of_han(tail: str) -> dict[str, float]:
    # The Chinese engine imports what reads records, which asks for names here.
    from tasks.extract.rules.chinese.naming import is_name, name_features
    from tasks.extract.rules.chinese.tokens import read_sentences

    tokens = [token for sentence in read_sentences(tail, ()) for token in sentence.tokens]
    verbal = any(token.text == "的" or token.tag[0] == "v" for token in tokens)
    own = name_features(tokens) if tokens else {}
    return own | {"reads as a name": float(is_name(tokens)) if tokens else 0.0, "的": float(verbal)}


def _likelihood(row: Mention, *, record: bool) -> float:
    """Return the probability that a triple's tail is a name."""
    return probability(tail_features(row, record=record), WEIGHTS)

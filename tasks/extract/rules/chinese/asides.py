"""Split a sentence into clauses, and read the names and life dates in its parentheses."""

import re
from dataclasses import dataclass
from itertools import groupby

from tasks.extract.rules.attributes import YEARS_OF_LIFE, year_of
from tasks.extract.rules.chinese.acting import has_verb
from tasks.extract.rules.chinese.lexicon import (
    ALIAS_RELATIONS,
    LANGUAGES,
    PERSON_ENDINGS,
    ROLES,
)
from tasks.extract.rules.chinese.naming import TypedName, is_name, kind_of
from tasks.extract.rules.chinese.passage import PassageReading
from tasks.extract.rules.chinese.predicates import WRITTEN
from tasks.extract.rules.chinese.tokens import SegmentedSentence, Token, text_of
from tasks.text.values import Value, parse_value
from tasks.text.values.value import date_value

# "Alan Turing" in parentheses after a name is its foreign spelling, even without a label.
LATIN_NAME = re.compile("[A-Z][A-Za-z .'’&-]{1,60}")
# The dates of a life, one of which may be unknown: 1881.9.25—1936.10.19, 1881年9月25日—？
LIFE = re.compile(r"(?P<born>[^约約]*?) ?(?:[-–—－~～]{1,2}|[至到]) ?(?P<died>[^约約]*)")
DOTTED = re.compile(r"[12][0-9]{3}[.．][0-9]{1,2}(?:[.．][0-9]{1,2})?")
UNKNOWN = frozenset("?？")
LABELS = ALIAS_RELATIONS | LANGUAGES


BREAKS = frozenset("，,；;：:")
EXAMPLES = frozenset(["如", "例如", "比如", "见", "参见", "即"])
CUT = frozenset(["v", "zg", "g", "ng", "e", "o"])  # tags of a character that is part of a word
DASHES = frozenset("—－―")
OPENING, CLOSING = frozenset("（("), frozenset("）)")


@dataclass(slots=True)
class Aside:
    """The content of a pair of parentheses, and the tokens of the clause before it."""

    before: list[Token]
    tokens: list[Token]


def split_clauses(tokens: list[Token]) -> tuple[list[list[Token]], list[Aside]]:
    """Split a sentence at its commas, semicolons and colons; return its parentheses separately."""
    clauses: list[list[Token]] = [[]]
    asides: list[Aside] = []
    aside: Aside | None = None
    for token in tokens:
        if token.text in OPENING and aside is None:
            aside = Aside(list(clauses[-1]), [])
        elif token.text in CLOSING and aside is not None:
            asides.append(aside)
            aside = None
        elif aside is not None:
            aside.tokens.append(token)
        elif token.text in BREAKS:
            clauses.append([])
        elif token.text not in "。！？!?":
            clauses[-1].append(token)
    return [_named_after_dash(clause) for clause in clauses if clause], asides


def _named_after_dash(clause: list[Token]) -> list[Token]:
    """Return a clause without what describes the name after a dash: 古桥的代表——安澜桥."""
    dash = max((i for i, token in enumerate(clause) if token.text[-1] in DASHES), default=0)
    before, after = clause[:dash], clause[dash + 1 :]
    described = bool(after) and any(token.text == "的" for token in before)
    named = described and all(token.nominal for token in after)
    return after if named and not has_verb(before, 0, dash) else clause


def read_asides(passage: PassageReading, asides: list[Aside], sentence: SegmentedSentence) -> None:
    """Add the facts in the parentheses of a sentence, each about the name before it."""
    for aside in asides:
        named = _named(aside.before)
        if not named or not aside.tokens or aside.tokens[0].text in EXAMPLES:
            continue
        name = passage.name_phrase(named)
        span = (sentence.start, aside.tokens[-1].end)
        grouped = groupby(aside.tokens, lambda token: token.text in "，,；;、")
        parts = [list(part) for separates, part in grouped if not separates]
        if len(parts) > 1 and parts[1][0].tag == "latin":
            continue  # some of several: 两种许可 (MIT, BSD)
        for part in parts:
            _read_part(passage, name, part, span)


def _named(before: list[Token]) -> list[Token]:
    """Return the name before parentheses: one token, or a noun with its modifiers; else empty."""
    if not before or not before[-1].nominal:
        return []
    if is_name(before[-1:]) and (before[-1].tag in WRITTEN or kind_of(before[-1:]) == "person"):
        return before[-1:]
    start = len(before)
    while start and before[start - 1].nominal and before[start - 1].tag not in ("time", "number"):
        start -= 1
    run = before[start:]
    while len(run) > 1 and run[0].text.endswith((*ROLES, *PERSON_ENDINGS)) and is_name(run[1:]):
        run = run[1:]  # 创始人|法德尔, but 国王|学院
    cut = start and len(before[start - 1].text) == 1 and before[start - 1].tag in CUT
    if cut or (run and run[0].tag in ("m", "q", "vn", "v")):
        return []
    return run if len(run) > 1 or (run and is_name(run)) else []


def _read_part(
    passage: PassageReading, name: TypedName, part: list[Token], span: tuple[int, int]
) -> None:
    text = text_of(part).lstrip("：:")
    life = LIFE.fullmatch(text)
    if life and name.kind in ("person", "unknown") and _read_life(passage, name, life, span):
        return
    label = _label(part)
    rest = text.removeprefix(label).lstrip("：:为是 ")
    if label and rest:
        passage.other_name(name, label, rest, span)
    elif LATIN_NAME.fullmatch(text) and not name.text.isascii():
        passage.other_name(name, "外文名", text, span)


def _label(part: list[Token]) -> str:
    """Return the label of an alias, if it consists of whole tokens: 字, but not that of 字幕."""
    starts = (text_of(part[:end]).lstrip("：:") for end in range(len(part), 0, -1))
    return next((start for start in starts if start in LABELS), "")


def _read_life(
    passage: PassageReading, name: TypedName, life: re.Match[str], span: tuple[int, int]
) -> bool:
    """Add the life dates after a person's name, if they are dates: （1881年9月—1936年10月）."""
    known = [date for date in life.groups() if date not in UNKNOWN]
    values = [_date(date) for date in known]
    # Bare years may be those of a term, as may 2014年至今.
    bare = all(date.isdigit() for date in known)
    if bare or not all(value and value.is_point for value in values):
        return False
    years = [year_of(value) for value in values if value]
    if name.kind != "person" and len(years) == 2 and years[1] - years[0] not in YEARS_OF_LIFE:
        return False  # 端午节期间（2018年6月16日—6月18日）
    for relation, date in zip(("出生日期", "逝世日期"), life.groups(), strict=True):
        if date not in UNKNOWN:
            passage.triple("life", name, relation, date, span, value=_date(date))
    return True


def _date(text: str) -> Value | None:
    """Return the date that a text is: 1881年9月25日, or 1881.9.25."""
    if DOTTED.fullmatch(text):
        return date_value(*map(int, re.split("[.．]", text)))
    return parse_value(text, "zh")

"""Facts stated by layout or punctuation rather than by grammar.

Key-value text (labelled lines, table rows) needs no parsing; dates of birth and death stand in
parentheses after a person's name: "Ada Lovelace (1815 – 1852)".
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from tasks.extract.extracted import STATED, Mention, evidence_columns, value_columns
from tasks.extract.rules.layout import Layout, Record
from tasks.extract.rules.lexicon import OFFICES
from tasks.extract.rules.linked_tails import are_names
from tasks.extract.rules.passage import ParsedPassage
from tasks.ingest.blocks import BlockKind, stored_blocks
from tasks.ingest.prose import words_of
from tasks.text.english_words import is_word, noun_lemma
from tasks.text.languages import HAN, HAN_CLASS, word_set
from tasks.text.names import POSTNOMINALS
from tasks.text.relations.vocabulary import kinds_of_heads
from tasks.text.values import Value, find_values, parse_value
from tasks.text.values.english_numbers import SCALE
from tasks.text.values.units import SIGN
from tasks.text.values.value import measured_at

# "MBE" or "Ph.D." after a person's name.
_LETTERS = "|".join(r"\.?".join(letters) for letters in sorted(POSTNOMINALS))
ASIDE = re.compile(
    rf"(?:,?\s(?i:{_LETTERS})(?![^\W_])\.?){{0,4}},?\s?\((?P<inner>[^()\n]{{4,200}})\)"
)
DASHES = (re.compile(r"\s[–—-]\s"), re.compile(r"[–—]|(?<=\d)-(?=\d)"))
VITAL = {
    "born": re.compile(r"(?:\bborn|\bb\.|\*)\s", re.IGNORECASE),
    "died": re.compile(r"(?:\bdied|\bd\.|†)\s", re.IGNORECASE),
}
_CAPITALISED = r"[A-Z][^\W\d_.'’ -]*(?:[.'’ -]+[^\W\d_]+)*"
PLACE = re.compile(
    rf",?\s(?:in\s)?(?P<place>{_CAPITALISED}(?:,\s{_CAPITALISED}){{0,2}})\s*(?:[;.–—]|\Z)"
)
# With another word before them, two bare years are no life dates: "president, 1933–1953".
NO_LIFE = re.compile(r"(?<![^\W_])(?!(?:born|b|c|ca|circa|about|or|née|né|nee)\b)[a-z]+\b")
# Texts seldom tell of shorter lives; a shorter span is a term of office.
YEARS_OF_LIFE = range(18, 116)
NAME_ENDS = re.compile(r"\s*[(（\[,，:：;；–—@]|\s[-|/]\s")  # in an item that begins with a name
LONGEST_LABEL = 3  # words
# Kinds of rows that a column such as "born" or "capital" tells; of others it may be figurative.
KINDS_OF_ROWS = ({"person"}, {"place"})
LONGEST_TITLE = 8  # words
# Labels that do not say what a value is: "R", "No.", "Option 1", 序号.
NO_RELATION = re.compile(
    r"[\W_]*(?:[a-z]|nos?|nr)[\W_]*|#|序号|tb[ad]|n/?a"
    r"|(?:option|choice|answer|column|选项|答案|列)[\W_]*(?:\d+|[a-z])",
    re.IGNORECASE,
)
_NUMBER_OF_HEADING = re.compile(  # "3.2 ", "2) ", "壹、", "（三）", "第五章 "
    r"\s*(?:\d+(?:\.\d+)+\.?\s|\d+(?:[)、．]|\.\s)|[一二三四五六七八九十壹贰貳叁參肆伍陆陸柒捌玖拾]+[、．.]"
    r"|[（(][一二三四五六七八九十\d]+[)）]|第[一二三四五六七八九十百\d]+[章节節条條款])\s*"
)

# Heads of columns of years; others are of amounts where a cell is another number.
SAYS_WHEN = re.compile(
    r"\b(?:(?<!per )years?|dates?|born|birth|died|death|since|until|season|founded|established"
    r"|built|opened|released?|published|launched|discovered)\b"
    r"|\A(?:from|to|start(?:ed)?|beg[iau]n|end(?:ed)?)\Z"
    r"|(?:年|年份|年代|年度|日期|时间|[成创建设]立|[创始兴]建|建成|出生|[去逝]世|发[行布现]|上映|出版)\Z",
    re.IGNORECASE,
)
_FOUR_DIGITS = re.compile("[1-9][0-9]{3}")
_CODE = re.compile("0[0-9]+")  # what stands below others like it is no amount either
# "Area (km²)", "Length in metres", "Width, mm" and "Mass kg", but not "Price per kg".
_UNIT_OF_LABEL = re.compile(
    r"(?!.*\sper\s[^(（,]*\Z)(.*[\w.])(?:\s?[(\[（](?:in\s)?([^()\[\]（）]+)[)\]）]"
    rf"|(?:[,，]|\s/|\sin)\s([^,，()（）]+)"
    rf"|(?<=[^\W\d])\s((?![A-Z{HAN_CLASS}]\Z)[^\s()\[\]（）]{{1,3}}))"
)
_FIGURES = re.compile(r"(?=.*\d)(?:[\W\d]|(?<=\d)[eE](?=[-+]?\d))+")  # "30–40", "< 5", "1.5e3"
# "Rent (month)" is that of a month, "Games won" are no money, and a minimum has no minutes.
_NO_UNIT = word_set("day week month year hour minute second won")
# "€", "€ million", "k€", "thousands of US$" and "USD m" measure amounts.
_SCALE = rf"(?i:(?:{SCALE})s?|[mbt]n|[kmb])"
_MONEY = re.compile(rf"(?:({_SCALE})(?:\sof)?\s?)?({SIGN})(?:\s?({_SCALE}))?")
_LASTS = re.compile(r"time|duration|length|时|長|长", re.IGNORECASE)
_CLOCK_TIME = re.compile(r"[0-2]?\d(?:[:：.]\d\d)?\s?(?:[ap]\.?m\.?)?|[0-2]?\d[:：]\d\d.*", re.I)
_LIKELY_YEARS = range(1500, 2101)  # where a head does not say so
_values_of_label = lru_cache(maxsize=1 << 8)(find_values)


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute stated by a label, a table or life dates, and its character span."""

    head: str
    relation: str
    tail: str
    start: int
    end: int
    value: Value
    kind: str = "unknown"
    tail_kind: str = ""

    @classmethod
    def stated(
        cls, head: str, relation: str, tail: str, span: tuple[int, int], language: str
    ) -> "Attribute":
        """Return an attribute with the value of its tail, at the time that its relation names."""
        value = parse_value(tail, language)
        times = [when for *_, when in _values_of_label(relation, language) if when.is_date]
        if len(times) == 1 and not (value.is_date or value.valid_from):
            value = measured_at(value, times[0])
        return cls(head, relation, tail, *span, value)

    def triple(self) -> Mention:
        """Return the attribute as a row of TripleMention."""
        return {
            "head": self.head,
            "head_kind": self.kind,
            "relation": self.relation,
            "tail": self.tail,
            "tail_kind": self.tail_kind,
            **value_columns(self.value, named=self.tail_kind != ""),
            "valid_from": self.value.valid_from,
            "valid_to": self.value.valid_to,
            **evidence_columns((self.start, self.end), STATED),
        }


def find_attributes(row: dict[str, Any], layout: Layout, language: str) -> Iterator[Attribute]:
    """Yield the attributes in a passage's tables and labelled values that are understood alone.

    The relation must contain a letter and be no `NO_RELATION`, and the head must not be a year,
    date, time or number, because such a column or row does not say what it holds. A question is no
    value.
    """
    for attribute in _stated_attributes(row, layout, language):
        is_time = _CLOCK_TIME.fullmatch(attribute.head)
        is_value = is_time or parse_value(attribute.head, language).value_type != "text"
        asks = attribute.tail.rstrip(")） ").endswith(("?", "？"))
        if any(map(str.isalpha, attribute.relation)) and not is_value and not asks:
            yield attribute


def _stated_attributes(row: dict[str, Any], layout: Layout, language: str) -> Iterator[Attribute]:
    """Yield the attributes that a passage's records state.

    Labelled values describe the document's subject if it has one. Otherwise an English label of
    several words is itself the head of a number or the like: "maximum file size: 5 MB". Its
    relation is what the heading calls such values ("recording fee"), if it does.
    """
    heading = heading_above(row)
    records, kinds = list(measured(layout.records, language)), _kinds_of_rows(layout)
    amounts = _amounts(records, language)
    codes = {record.label.lower() for record in records if _CODE.fullmatch(record.value)}
    for record in records:
        if NO_RELATION.fullmatch(record.label):
            continue
        label, span = record.label.lower(), (record.start, record.end)
        if record.subject:
            cell = record.value.strip("()") if label.startswith("(") else record.value
            stated = Attribute.stated(record.subject, label, cell, span, language)
            if label in codes and cell.isdecimal():
                stated = replace(stated, value=Value("text"))
            elif label in amounts and _FOUR_DIGITS.fullmatch(stated.tail):
                stated = replace(stated, value=Value("number", float(stated.tail)))
            yield replace(stated, kind=kinds.get(record.subject, stated.kind))
        elif row["subject"] and record.is_owned:
            # The heading in lower case, except for words that are all capitals.
            words = (w if w.isupper() and len(w) > 1 else w.lower() for w in heading.split())
            above = " ".join(words)
            relation = f"{above} {label}" if above and above not in label else label
            yield Attribute.stated(row["subject"], relation, record.value, span, language)
        elif language == "en" and len(record.label.split()) > 1:
            relation = _relation_of_items(heading) or "is"
            attribute = Attribute.stated(record.label, relation, record.value, span, language)
            if attribute.value.value_type not in ("text", "date"):
                yield attribute
    yield from _listed_names(row, heading, language)


def _relation_of_items(heading: str) -> str:
    """Return what an English heading such as "Recording Fees" calls each value below it, or ""."""
    words = heading.lower().split()
    if not 1 <= len(words) <= LONGEST_LABEL or not all(map(str.isalpha, words)):
        return ""
    one = noun_lemma(words[-1], known=True)
    return " ".join([*words[:-1], one]) if one and one != words[-1] else ""


def heading_above(row: dict[str, Any]) -> str:
    """Return the heading of a passage without its number and without a colon at its end."""
    heading = str(row["headings"] or "").rsplit(" > ", 1)[-1]
    number = _NUMBER_OF_HEADING.match(heading)
    return heading[number.end() if number else 0 :].rstrip(" :：") or heading


def _kinds_of_rows(layout: Layout) -> dict[str, str]:
    """Return the kinds of subjects that labels such as "born" and "capital" tell, if they agree."""
    told: defaultdict[str, set[str]] = defaultdict(set)
    for record in layout.records:
        kinds = kinds_of_heads(record.label.lower())
        told[record.subject] |= kinds if kinds in KINDS_OF_ROWS else set()
    return {subject: kinds.pop() for subject, kinds in told.items() if len(kinds) == 1}


def measured(records: Sequence[Record], language: str) -> Iterator[Record]:
    """Yield records, of which a number has the unit or scale that its label names.

    The label does so no more, unless another one beside it is the same but for that.
    """
    pairs = [(record, _with_unit(record, language)) for record in records]
    labels = {(named.label.lower(), record.label.lower()) for record, named in pairs}
    times = Counter(label for label, _ in labels)
    for record, named in pairs:
        yield named if times[named.label.lower()] == 1 else replace(named, label=record.label)


def _with_unit(record: Record, language: str) -> Record:
    label = _UNIT_OF_LABEL.fullmatch(record.label)
    if label is None:
        return record
    name, unit = filter(None, label.groups())
    before, after = "", unit if HAN.match(unit) else f" {unit}"
    if money := _MONEY.fullmatch(unit):
        scale = (money[1] or money[3] or "").removesuffix("s")
        before = f"{money[2]} " if money[2].isalpha() else money[2]
        after = f" {scale}" if len(scale) > 2 else scale
    one = parse_value(f"{before}1{after}", language)
    is_minimum = unit == "min" and not _LASTS.search(name)
    if is_minimum or unit.lower() in _NO_UNIT or not (one.unit or (one.number or 1) > 1):
        return record
    types = ("number",) if SAYS_WHEN.search(name) else ("number", "year")
    measured = f"{before}{record.value}{after}"
    sort = parse_value(record.value, language).value_type
    counts = sort in types and parse_value(measured, language).number is not None
    counts |= sort == "text" and _FIGURES.fullmatch(record.value) is not None
    return replace(record, label=name, value=measured if counts else record.value)


def _amounts(records: Sequence[Record], language: str) -> set[str]:
    """Return the heads, in lower case, of columns whose numbers of four digits are no years.

    A cell is a number that is no likely year, and the heads do not say that the cells are years.
    """
    doubtful = {r.label.lower() for r in records if _FOUR_DIGITS.fullmatch(r.value)}
    return {
        label
        for record in records
        if record.subject and (label := record.label.lower()) in doubtful
        if not SAYS_WHEN.search(label)
        if parse_value(record.value, language).number is not None
        or (_FOUR_DIGITS.fullmatch(record.value) and int(record.value) not in _LIKELY_YEARS)
    }


def _listed_names(row: dict[str, Any], heading: str, language: str) -> Iterator[Attribute]:
    """Yield the names in a list below a heading that says what they are: "Chairs", "Attendees".

    They are of the document's subject, or of a document whose title is more than common words. What
    follows a name in its item is left out: "Ada Bell (Acme), secretary".
    """
    label = re.sub(r"^[\W_]+|[\W_]+$", "", heading).lower()
    words = row["title"].split()
    plain = all(is_word(word.lower()) for word in words) or len(words) > LONGEST_TITLE
    owner = row["subject"] or ("" if plain else row["title"])
    items = [
        (NAME_ENDS.split(words_of(row["text"][block.start : block.end]).text.strip(), 1)[0], block)
        for block in stored_blocks(row)
        if block.kind is BlockKind.ITEM and not block.lead
    ]
    short = owner and label and len(label.split()) <= LONGEST_LABEL
    if short and are_names([name for name, _ in items], label):
        for name, block in items:
            yield Attribute.stated(owner, label, name, (block.start, block.end), language)


def find_life_dates(passage: ParsedPassage) -> Iterator[Attribute]:
    """Yield the dates and places of birth and death in parentheses after names."""
    tree, text = passage.tree, passage.tree.text
    for name in passage.names:
        kind = passage.kind(name.name)
        letters = name.name.replace(".", "").lower() in POSTNOMINALS
        if letters or (kind not in ("person", "unknown") and name.name != passage.title):
            continue
        aside = ASIDE.match(text, name.end, name.end + 250)
        if aside is None or (name.first and tree.lower[name.first - 1] in OFFICES):
            continue
        offset = aside.start("inner")
        for verb, start, end, value in _lives(aside["inner"], certain=kind == "person"):
            exact = value.date is not None and value.date.count("-") >= 2
            relation = f"{verb} {'on' if exact else 'in'}"
            tail = text[offset + start : offset + end]
            place = PLACE.match(aside["inner"], end)
            span = name.start, offset + end
            yield Attribute(name.name, relation, tail, *span, value, "person")
            if place is not None:
                tail, span = place["place"].strip(), (name.start, offset + place.end("place"))
                yield Attribute(
                    name.name, f"{verb} in", tail, *span, Value("text"), "person", "place"
                )


def _lives(inner: str, *, certain: bool) -> Iterator[tuple[str, int, int, Value]]:
    """Yield verb, start, end and value of the life dates in a parenthesis.

    Two bare years are life dates only if it is `certain` that they follow a person's name.
    """
    for dash in (dash for pattern in DASHES for dash in pattern.finditer(inner)):
        before, after = _dates(inner, 0, dash.start()), _dates(inner, dash.end(), len(inner))
        if not before or not after:
            continue
        birth, death = before[-1], after[0]
        years = year_of(death[2]) - year_of(birth[2])
        exact = "date" in (birth[2].value_type, death[2].value_type)
        plain = certain and NO_LIFE.search(inner, 0, birth[0]) is None
        if years in YEARS_OF_LIFE and (plain or exact):
            yield "born", *birth
            yield "died", *death
        return
    for verb, pattern in VITAL.items():
        word = pattern.search(inner)
        date = next(iter(_dates(inner, word.end(), len(inner))), None) if word else None
        if date is not None:
            yield verb, *date


def _dates(text: str, first: int, last: int) -> list[tuple[int, int, Value]]:
    """Return the single dates, and the exact "13/14 May 1885", between two offsets of a text."""
    found = ((first + a, first + b, v) for a, b, v in find_values(text[first:last], "en"))
    return [(a, b, v) for a, b, v in found if v.is_point or (v.date or "").count("-") > 2]


def year_of(date: Value) -> int:
    """Return the year of a value with a date, negative before Christ."""
    text = date.date or ""
    return -int(text[1:5]) if text.startswith("-") else int(text[:4])

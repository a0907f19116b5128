"""Facts stated by form rather than by grammar.

Key-value text (labelled lines, table rows, fragments under a heading) needs no parsing; dates of
birth and death stand in parentheses after a person's name: "Ada Lovelace (1815 – 1852)".
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tasks.extract.extracted import Mention, evidence_columns, value_columns
from tasks.extract.rules.aspects import MOST_SENTENCES, question_of
from tasks.extract.rules.passage import NameSpan, ParsedPassage
from tasks.text.sentences import sentences
from tasks.text.values import Value, find_values, parse_value

LABELLED = re.compile(
    r"^[ \t]{0,20}(?P<mark>[-*•][ \t]{1,4})?(?P<bold>\*\*)?(?P<label>[^\W_][^\n:*|]{0,120}?"
    r"(?:: ?[^\n:*|]{1,80}?)?)"
    r"(?:[ \t]?:\*\*|\*\*[ \t]?:|:)[ \t]{1,4}(?P<value>\S[^\n]*)$",
    re.MULTILINE,
)
STATED_IN = re.compile(r"\s*\((?P<year>\d{4})(?:/\d\d)? ?(?:est\.?)?\)$")
TABLE_ROW = re.compile(r"^[ \t]*\|([^\n]+)\|[ \t]*$", re.MULTILINE)
LIST = re.compile(r";(?![^()\n]{0,200}\))|\n+")
WORD_LIST = re.compile(r"[,;](?![^()\n]{0,200}\))|\n")
TABLE_RULE = re.compile(r"[\s|:-]+")
SENTENCE_END = re.compile(r"(?<!\best)[.!?][\"'”’]*(?:\s+[A-Z]|\s*$)")
ASIDE = re.compile(r"\s?\((?P<inner>[^()\n]{4,120})\)")
DASH = re.compile(r"\s[–—-]\s|[–—]|(?<=\d)-(?=\d)")
BORN = re.compile(r"\b(?:born|b\.)\s", re.IGNORECASE)
DIED = re.compile(r"\b(?:died|d\.)\s", re.IGNORECASE)
LONGEST_LABEL = 14
LONGEST_PLAIN_VALUE = 160
LONGEST_FRAGMENT = 200
MOST_ITEMS = 60
# What is stated by form rather than by grammar has no judged sample to fit a confidence to.
STATED = 0.95


@dataclass(frozen=True, slots=True)
class Attribute:
    """A property stated by form (a label, a table, life dates), and where it is stated."""

    head: str
    relation: str
    tail: str
    start: int
    end: int
    value: Value
    kind: str = "unknown"

    @classmethod
    def stated(cls, head: str, relation: str, text: str, start: int, end: int) -> "Attribute":
        """Return the attribute stated in a stretch of text; "(2023 est.)" tells when it held."""
        tail = text[start:end]
        year = STATED_IN.search(tail)
        if year is None or year.start() == 0:
            return cls(head, relation, tail, start, end, parse_value(tail, "en"))
        tail = tail[: year.start()]
        value = replace(parse_value(tail, "en"), valid_from=year["year"], valid_to=year["year"])
        return cls(head, relation, tail, start, end, value)

    def triple(self) -> Mention:
        """Return the attribute as a row of TripleMention."""
        return {
            "head": self.head,
            "head_kind": self.kind,
            "relation": self.relation,
            "tail": self.tail,
            "tail_kind": "",
            **value_columns(self.value),
            "valid_from": self.value.valid_from,
            "valid_to": self.value.valid_to,
            **evidence_columns((self.start, self.end), STATED),
        }

    def note(self, text: str) -> Mention:
        """Return an attribute that is too long for a triple as a note of its first sentences."""
        stated = text[self.start : self.end]
        _, length = sentences(stated, "en")[:MOST_SENTENCES][-1]
        return {
            "entity": self.head,
            "kind": self.kind,
            "aspect": self.relation,
            "text": stated[:length],
            "question": question_of(self.relation, self.head, a_side=True),
            **evidence_columns((self.start, self.start + length), STATED),
        }


def find_attributes(text: str, title: str, headings: str) -> tuple[list[Attribute], str]:
    """Return the attributes, and the text with what they came from blanked out.

    The blanked text has the length of the text, so that offsets in it hold.
    """
    heading = headings.rsplit(" > ", 1)[-1] if headings else ""
    lines = _labelled_lines(text)
    attributes = [a for line in lines for a in _of_line(line, title, heading)]
    attributes.extend(_of_tables(text))
    spans = [line.span() for line in lines] + [m.span() for m in TABLE_ROW.finditer(text)]
    rest = _blanked(text, spans)
    if heading and title and rest.strip() and _is_fragment(rest):
        start = len(rest) - len(rest.lstrip())
        end = len(rest.rstrip())
        fragments = list(_items(title, _lower(heading), text, start, end))
        attributes.extend(fragments)
        rest = " " * len(text) if fragments else rest
    return attributes, rest


def _labelled_lines(text: str) -> list[re.Match[str]]:
    """Return lines that label a value; a plain "Label: value" needs a second one beside it."""
    if ":" not in text:
        return []
    lines = [m for m in LABELLED.finditer(text) if len(m["label"].split()) <= LONGEST_LABEL]
    marked = [m for m in lines if m["bold"] or m["mark"]]
    plain = [
        m for m in lines if not (m["bold"] or m["mark"]) and len(m["value"]) <= LONGEST_PLAIN_VALUE
    ]
    return sorted(marked + (plain if len(lines) > 1 else []), key=lambda m: m.start())


def _of_line(line: re.Match[str], title: str, heading: str) -> Iterator[Attribute]:
    parts = [part.strip().lower() for part in line["label"].split(":") if part.strip()]
    value = line["value"].rstrip()
    start = line.start("value")
    end = start + len(value)
    # "**land: arable land:** arable land: 5.1%" repeats its label.
    repeated = value.lower().startswith(f"{parts[-1]}:")
    if repeated:
        start += len(value) - len(value[len(parts[-1]) + 1 :].lstrip())
    words = [_lower(heading)] if heading and _lower(heading) not in parts[0] else []
    relation = " ".join(dict.fromkeys([*words, *parts]))
    if title:
        yield from _items(title, relation, line.string, start, end)


def _items(head: str, relation: str, text: str, start: int, end: int) -> Iterator[Attribute]:
    """Yield one attribute, or one per item of a list."""
    value = text[start:end]
    separator = WORD_LIST if _is_word_list(value) else LIST
    at = 0
    ends = [mark.span() for mark in separator.finditer(value)][:MOST_ITEMS]
    for item_end, next_start in [*ends, (len(value), len(value))]:
        item = value[at:item_end]
        first = at + len(item) - len(item.lstrip())
        last = at + len(item.rstrip())
        if first < last:
            yield Attribute.stated(head, relation, text, start + first, start + last)
        at = next_start


def _is_word_list(value: str) -> bool:
    items = WORD_LIST.split(value)
    plain = all(0 < len(item.split()) <= 4 and not any(map(str.isdigit, item)) for item in items)
    return len(items) >= 3 and plain


def _is_fragment(text: str) -> bool:
    """Whether a text under a heading is no sentence: short, without a full stop at the end."""
    return len(text.split()) <= LONGEST_FRAGMENT and not SENTENCE_END.search(text)


def _of_tables(text: str) -> Iterator[Attribute]:
    """Yield (first cell, column header, cell) for each row of a Markdown table."""
    header: list[str] | None = None
    last_end = -2
    for row in TABLE_ROW.finditer(text):
        if row.start() > last_end + 1:
            header = None
        last_end = row.end()
        if TABLE_RULE.fullmatch(row[1]):
            continue
        cells = [cell.strip() for cell in row[1].split("|")]
        if header is None:
            header = cells
            continue
        for column, cell in list(zip(header, cells, strict=False))[1:MOST_ITEMS]:
            if column and cell and cells[0]:
                value = parse_value(cell, "en")
                relation = column.lower()
                yield Attribute(cells[0], relation, cell, row.start(), row.end(), value)


def _lower(heading: str) -> str:
    """Return a heading in lower case, but for words that are all capitals."""
    return " ".join(w if w.isupper() and len(w) > 1 else w.lower() for w in heading.split())


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    if not spans:
        return text
    characters = list(text)
    for start, end in spans:
        characters[start:end] = " " * (end - start)
    return "".join(characters)


def find_life_dates(passage: ParsedPassage) -> Iterator[Attribute]:
    """Yield the dates of birth and death that parentheses after names state."""
    text = passage.tree.text
    for name in passage.names:
        if name.kind not in ("person", "unknown") and name.name != passage.title:
            continue
        aside = ASIDE.match(text, name.end, name.end + 160)
        if aside is None:
            continue
        for verb, start, end, value in _lives(name, aside["inner"]):
            exact = value.date is not None and value.date.count("-") >= 2
            relation = f"{verb} {'on' if exact else 'in'}"
            start, end = aside.start("inner") + start, aside.start("inner") + end
            value = replace(value, valid_from=None, valid_to=None)
            tail = text[start:end]
            yield Attribute(name.name, relation, tail, name.start, end, value, "person")


def _lives(name: NameSpan, inner: str) -> Iterator[tuple[str, int, int, Value]]:
    """Yield verb, start, end and value of each date inside parentheses."""
    dash = DASH.search(inner)
    dates = [(start, end, value) for start, end, value in find_values(inner, "en") if value.is_date]
    if not dates:
        return
    if BORN.search(inner) and not DIED.search(inner):
        yield "born", *dates[0]
    elif len(dates) == 2 and dash:
        yield "born", *dates[0]
        yield "died", *dates[1]
    elif len(dates) == 1 and name.kind == "person" and dates[0][2].valid_from and dash:
        # "1815–1852" is one value; its dash parts birth from death.
        first, last, _ = dates[0]
        parting = DASH.search(inner[first:last])
        if parting is None:
            return
        middle, after = first + parting.start(), first + parting.end()
        for verb, begin, stop in (("born", first, middle), ("died", after, last)):
            for start, end, value in find_values(inner[begin:stop], "en"):
                if value.is_point:
                    yield verb, begin + start, begin + end, value
